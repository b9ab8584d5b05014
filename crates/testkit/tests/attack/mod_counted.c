/* A provider of passwords that counts how often it is asked: one user, alice, whose password is "secret". Another user, guest,
   has the password "secret" at one URL only. Checking the password "slow" takes a second. As "dbm" it is known to decide by user and password alone; mod_authn_dbm is not
   loaded. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "httpd.h"
#include "http_config.h"
#include "http_request.h"
#include "ap_provider.h"
#include "mod_auth.h"

static authn_status check(request_rec *r, const char *user, const char *password)
{
    FILE *file = fopen(ap_server_root_relative(r->pool, "run/checks"), "a");
    if (file) {
        fprintf(file, "%s\n", r->uri);
        fclose(file);
    }
    if (!strcmp(password, "slow"))
        sleep(1);
    if (!strcmp(user, "guest"))
        return strcmp(password, "secret") || strcmp(r->uri, "/members/0.txt") ? AUTH_DENIED : AUTH_GRANTED;
    if (strcmp(user, "alice"))
        return AUTH_USER_NOT_FOUND;
    return strcmp(password, "secret") ? AUTH_DENIED : AUTH_GRANTED;
}

static const authn_provider provider = { &check, NULL };

static void register_hooks(apr_pool_t *p)
{
    ap_register_auth_provider(p, AUTHN_PROVIDER_GROUP, "counted", AUTHN_PROVIDER_VERSION, &provider,
                              AP_AUTH_INTERNAL_PER_CONF);
    ap_register_auth_provider(p, AUTHN_PROVIDER_GROUP, "dbm", AUTHN_PROVIDER_VERSION, &provider,
                              AP_AUTH_INTERNAL_PER_CONF);
}

module AP_MODULE_DECLARE_DATA counted_module = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks
};
