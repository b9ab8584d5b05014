/* A module that keeps something for every connection, and relies on finding it in every request. */
#include "httpd.h"
#include "http_config.h"
#include "http_connection.h"
#include "http_protocol.h"

module AP_MODULE_DECLARE_DATA strange_module;

static int prepare(conn_rec *c, void *socket)
{
    int *requests = apr_pcalloc(c->pool, sizeof(int));
    ap_set_module_config(c->conn_config, &strange_module, requests);
    return OK;
}

static int count(request_rec *r)
{
    int *requests = ap_get_module_config(r->connection->conn_config, &strange_module);
    ++*requests;
    return DECLINED;
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_pre_connection(prepare, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_post_read_request(count, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA strange_module = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks
};
