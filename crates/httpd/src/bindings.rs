//! Bindings to httpd and APR, made by bindgen (see build.rs); not edited by hand.
#![allow(clippy::all, clippy::undocumented_unsafe_blocks, clippy::semicolon_if_nothing_returned, dead_code)]
#![allow(missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals, unreachable_pub)]
#![allow(unsafe_op_in_unsafe_fn)]
pub type __dev_t = ::core::ffi::c_ulong;
pub type __uid_t = ::core::ffi::c_uint;
pub type __gid_t = ::core::ffi::c_uint;
pub type __ino_t = ::core::ffi::c_ulong;
pub type __off_t = ::core::ffi::c_long;
pub type __socklen_t = ::core::ffi::c_uint;
pub type ino_t = __ino_t;
pub type dev_t = __dev_t;
pub type gid_t = __gid_t;
pub type uid_t = __uid_t;
pub type off_t = __off_t;
pub type socklen_t = __socklen_t;
pub type sa_family_t = ::core::ffi::c_ushort;
pub type apr_uint16_t = ::core::ffi::c_ushort;
pub type apr_int32_t = ::core::ffi::c_int;
pub type apr_uint32_t = ::core::ffi::c_uint;
pub type apr_int64_t = i64;
pub type apr_uint64_t = u64;
pub type apr_size_t = usize;
pub type apr_off_t = off_t;
pub type apr_socklen_t = socklen_t;
pub type apr_ino_t = ino_t;
pub type apr_status_t = ::core::ffi::c_int;
pub type apr_abortfunc_t =
    ::core::option::Option<unsafe extern "C" fn(retcode: ::core::ffi::c_int) -> ::core::ffi::c_int>;
pub type apr_time_t = apr_int64_t;
pub type apr_interval_time_t = apr_int64_t;
pub type apr_uid_t = uid_t;
pub type apr_gid_t = gid_t;
pub type apr_filetype_e = ::core::ffi::c_uint;
pub type apr_fileperms_t = apr_int32_t;
pub type apr_dev_t = dev_t;
pub type in_addr_t = u32;
pub type in_port_t = u16;
pub type apr_port_t = apr_uint16_t;
pub type apr_read_type_e = ::core::ffi::c_uint;
pub type apr_bucket_type_t__bindgen_ty_1 = ::core::ffi::c_uint;
pub type ap_request_bnotes_t = apr_uint64_t;
pub type ap_conn_keepalive_e = ::core::ffi::c_uint;
pub type conn_state_e = ::core::ffi::c_uint;
pub type conn_sense_e = ::core::ffi::c_uint;
pub type cmd_how = ::core::ffi::c_uint;
pub type cmd_parms = cmd_parms_struct;
pub type command_rec = command_struct;
pub type module = module_struct;
pub type ap_HOOK_pre_config_t = ::core::option::Option<
    unsafe extern "C" fn(pconf: *mut apr_pool_t, plog: *mut apr_pool_t, ptemp: *mut apr_pool_t) -> ::core::ffi::c_int,
>;
pub type ap_HOOK_check_config_t = ::core::option::Option<
    unsafe extern "C" fn(
        pconf: *mut apr_pool_t,
        plog: *mut apr_pool_t,
        ptemp: *mut apr_pool_t,
        s: *mut server_rec,
    ) -> ::core::ffi::c_int,
>;
pub type ap_HOOK_test_config_t =
    ::core::option::Option<unsafe extern "C" fn(pconf: *mut apr_pool_t, s: *mut server_rec)>;
pub type ap_HOOK_post_config_t = ::core::option::Option<
    unsafe extern "C" fn(
        pconf: *mut apr_pool_t,
        plog: *mut apr_pool_t,
        ptemp: *mut apr_pool_t,
        s: *mut server_rec,
    ) -> ::core::ffi::c_int,
>;
pub type ap_HOOK_child_init_t =
    ::core::option::Option<unsafe extern "C" fn(pchild: *mut apr_pool_t, s: *mut server_rec)>;
pub type ap_HOOK_handler_t = ::core::option::Option<unsafe extern "C" fn(r: *mut request_rec) -> ::core::ffi::c_int>;
pub type ap_HOOK_pre_connection_t =
    ::core::option::Option<unsafe extern "C" fn(c: *mut conn_rec, csd: *mut ::core::ffi::c_void) -> ::core::ffi::c_int>;
pub type apr_opt_fn_t = ::core::option::Option<unsafe extern "C" fn()>;
pub type ap_input_mode_t = ::core::ffi::c_uint;
pub type ap_out_filter_func =
    ::core::option::Option<unsafe extern "C" fn(f: *mut ap_filter_t, b: *mut apr_bucket_brigade) -> apr_status_t>;
pub type ap_in_filter_func = ::core::option::Option<
    unsafe extern "C" fn(
        f: *mut ap_filter_t,
        b: *mut apr_bucket_brigade,
        mode: ap_input_mode_t,
        block: apr_read_type_e,
        readbytes: apr_off_t,
    ) -> apr_status_t,
>;
pub type ap_init_filter_func = ::core::option::Option<unsafe extern "C" fn(f: *mut ap_filter_t) -> ::core::ffi::c_int>;
pub type ap_filter_type = ::core::ffi::c_uint;
pub type ap_HOOK_error_log_t =
    ::core::option::Option<unsafe extern "C" fn(info: *const ap_errorlog_info, errstr: *const ::core::ffi::c_char)>;
pub type apr_os_file_t = ::core::ffi::c_int;
pub type apr_os_sock_t = ::core::ffi::c_int;
pub type ap_HOOK_insert_error_filter_t = ::core::option::Option<unsafe extern "C" fn(r: *mut request_rec)>;
pub type ap_HOOK_post_read_request_t =
    ::core::option::Option<unsafe extern "C" fn(r: *mut request_rec) -> ::core::ffi::c_int>;
pub type ap_HOOK_log_transaction_t =
    ::core::option::Option<unsafe extern "C" fn(r: *mut request_rec) -> ::core::ffi::c_int>;
pub type ap_HOOK_translate_name_t =
    ::core::option::Option<unsafe extern "C" fn(r: *mut request_rec) -> ::core::ffi::c_int>;
pub type ap_HOOK_map_to_storage_t =
    ::core::option::Option<unsafe extern "C" fn(r: *mut request_rec) -> ::core::ffi::c_int>;
pub type ap_HOOK_check_user_id_t =
    ::core::option::Option<unsafe extern "C" fn(r: *mut request_rec) -> ::core::ffi::c_int>;
pub type ap_HOOK_auth_checker_t =
    ::core::option::Option<unsafe extern "C" fn(r: *mut request_rec) -> ::core::ffi::c_int>;
pub type ap_HOOK_post_perdir_config_t =
    ::core::option::Option<unsafe extern "C" fn(r: *mut request_rec) -> ::core::ffi::c_int>;
pub type ap_HOOK_child_stopping_t =
    ::core::option::Option<unsafe extern "C" fn(pchild: *mut apr_pool_t, graceful: ::core::ffi::c_int)>;
pub type ap_watchdog_callback_fn_t = ::core::option::Option<
    unsafe extern "C" fn(
        state: ::core::ffi::c_int,
        data: *mut ::core::ffi::c_void,
        pool: *mut apr_pool_t,
    ) -> apr_status_t,
>;
#[repr(C)]
#[derive(Copy, Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct __BindgenBitfieldUnit<Storage> {
    storage: Storage,
}
#[derive(PartialEq, Eq, Copy, Clone, Debug, Hash)]
#[repr(C, align(8))]
pub struct __BindgenOpaqueArray8<T>(pub T);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sockaddr_storage {
    pub ss_family: sa_family_t,
    pub __ss_padding: [::core::ffi::c_char; 118usize],
    pub __ss_align: ::core::ffi::c_ulong,
}
#[repr(C)]
#[derive(Debug)]
pub struct apr_pool_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct apr_allocator_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct apr_thread_mutex_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct apr_table_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_array_header_t {
    pub pool: *mut apr_pool_t,
    pub elt_size: ::core::ffi::c_int,
    pub nelts: ::core::ffi::c_int,
    pub nalloc: ::core::ffi::c_int,
    pub elts: *mut ::core::ffi::c_char,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_table_entry_t {
    pub key: *mut ::core::ffi::c_char,
    pub val: *mut ::core::ffi::c_char,
    pub key_checksum: apr_uint32_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_finfo_t {
    pub pool: *mut apr_pool_t,
    pub valid: apr_int32_t,
    pub protection: apr_fileperms_t,
    pub filetype: apr_filetype_e,
    pub user: apr_uid_t,
    pub group: apr_gid_t,
    pub inode: apr_ino_t,
    pub device: apr_dev_t,
    pub nlink: apr_int32_t,
    pub size: apr_off_t,
    pub csize: apr_off_t,
    pub atime: apr_time_t,
    pub mtime: apr_time_t,
    pub ctime: apr_time_t,
    pub fname: *const ::core::ffi::c_char,
    pub name: *const ::core::ffi::c_char,
    pub filehand: *mut apr_file_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct in_addr {
    pub s_addr: in_addr_t,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct in6_addr {
    pub __in6_u: in6_addr__bindgen_ty_1,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sockaddr_in {
    pub sin_family: sa_family_t,
    pub sin_port: in_port_t,
    pub sin_addr: in_addr,
    pub sin_zero: [::core::ffi::c_uchar; 8usize],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct sockaddr_in6 {
    pub sin6_family: sa_family_t,
    pub sin6_port: in_port_t,
    pub sin6_flowinfo: u32,
    pub sin6_addr: in6_addr,
    pub sin6_scope_id: u32,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sockaddr_un {
    pub sun_family: sa_family_t,
    pub sun_path: [::core::ffi::c_char; 108usize],
}
#[repr(C)]
#[derive(Debug)]
pub struct apr_socket_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct apr_sockaddr_t {
    pub pool: *mut apr_pool_t,
    pub hostname: *mut ::core::ffi::c_char,
    pub servname: *mut ::core::ffi::c_char,
    pub port: apr_port_t,
    pub family: apr_int32_t,
    pub salen: apr_socklen_t,
    pub ipaddr_len: ::core::ffi::c_int,
    pub addr_str_len: ::core::ffi::c_int,
    pub ipaddr_ptr: *mut ::core::ffi::c_void,
    pub next: *mut apr_sockaddr_t,
    pub sa: apr_sockaddr_t__bindgen_ty_1,
}
#[repr(C)]
#[derive(Debug)]
pub struct apr_bucket_alloc_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_bucket_type_t {
    pub name: *const ::core::ffi::c_char,
    pub num_func: ::core::ffi::c_int,
    pub is_metadata: apr_bucket_type_t__bindgen_ty_1,
    pub destroy: ::core::option::Option<unsafe extern "C" fn(data: *mut ::core::ffi::c_void)>,
    pub read: ::core::option::Option<
        unsafe extern "C" fn(
            b: *mut apr_bucket,
            str_: *mut *const ::core::ffi::c_char,
            len: *mut apr_size_t,
            block: apr_read_type_e,
        ) -> apr_status_t,
    >,
    pub setaside:
        ::core::option::Option<unsafe extern "C" fn(e: *mut apr_bucket, pool: *mut apr_pool_t) -> apr_status_t>,
    pub split: ::core::option::Option<unsafe extern "C" fn(e: *mut apr_bucket, point: apr_size_t) -> apr_status_t>,
    pub copy: ::core::option::Option<unsafe extern "C" fn(e: *mut apr_bucket, c: *mut *mut apr_bucket) -> apr_status_t>,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_bucket {
    pub link: apr_bucket__bindgen_ty_1,
    pub type_: *const apr_bucket_type_t,
    pub length: apr_size_t,
    pub start: apr_off_t,
    pub data: *mut ::core::ffi::c_void,
    pub free: ::core::option::Option<unsafe extern "C" fn(e: *mut ::core::ffi::c_void)>,
    pub list: *mut apr_bucket_alloc_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_bucket__bindgen_ty_1 {
    pub next: *mut apr_bucket,
    pub prev: *mut apr_bucket,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_bucket_brigade {
    pub p: *mut apr_pool_t,
    pub list: apr_bucket_brigade_apr_bucket_list,
    pub bucket_alloc: *mut apr_bucket_alloc_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_bucket_brigade_apr_bucket_list {
    pub next: *mut apr_bucket,
    pub prev: *mut apr_bucket,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_bucket_refcount {
    pub refcount: ::core::ffi::c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_bucket_file {
    pub refcount: apr_bucket_refcount,
    pub fd: *mut apr_file_t,
    pub readpool: *mut apr_pool_t,
    pub can_mmap: ::core::ffi::c_int,
    pub read_size: apr_size_t,
}
#[repr(C)]
#[derive(Debug)]
pub struct apr_thread_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ap_method_list_t {
    pub method_mask: apr_int64_t,
    pub method_list: *mut apr_array_header_t,
}
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct htaccess_result {
    pub _bindgen_opaque_blob: __BindgenOpaqueArray8<[u8; 40usize]>,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_uri_t {
    pub scheme: *mut ::core::ffi::c_char,
    pub hostinfo: *mut ::core::ffi::c_char,
    pub user: *mut ::core::ffi::c_char,
    pub password: *mut ::core::ffi::c_char,
    pub hostname: *mut ::core::ffi::c_char,
    pub port_str: *mut ::core::ffi::c_char,
    pub path: *mut ::core::ffi::c_char,
    pub query: *mut ::core::ffi::c_char,
    pub fragment: *mut ::core::ffi::c_char,
    pub hostent: *mut hostent,
    pub port: apr_port_t,
    pub _bitfield_1: __BindgenBitfieldUnit<[u8; 1usize]>,
    pub __bindgen_padding_0: [u8; 5usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct process_rec {
    pub pool: *mut apr_pool_t,
    pub pconf: *mut apr_pool_t,
    pub short_name: *const ::core::ffi::c_char,
    pub argv: *const *const ::core::ffi::c_char,
    pub argc: ::core::ffi::c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct request_rec {
    pub pool: *mut apr_pool_t,
    pub connection: *mut conn_rec,
    pub server: *mut server_rec,
    pub next: *mut request_rec,
    pub prev: *mut request_rec,
    pub main: *mut request_rec,
    pub the_request: *mut ::core::ffi::c_char,
    pub assbackwards: ::core::ffi::c_int,
    pub proxyreq: ::core::ffi::c_int,
    pub header_only: ::core::ffi::c_int,
    pub proto_num: ::core::ffi::c_int,
    pub protocol: *mut ::core::ffi::c_char,
    pub hostname: *const ::core::ffi::c_char,
    pub request_time: apr_time_t,
    pub status_line: *const ::core::ffi::c_char,
    pub status: ::core::ffi::c_int,
    pub method_number: ::core::ffi::c_int,
    pub method: *const ::core::ffi::c_char,
    pub allowed: apr_int64_t,
    pub allowed_xmethods: *mut apr_array_header_t,
    pub allowed_methods: *mut ap_method_list_t,
    pub sent_bodyct: apr_off_t,
    pub bytes_sent: apr_off_t,
    pub mtime: apr_time_t,
    pub range: *const ::core::ffi::c_char,
    pub clength: apr_off_t,
    pub chunked: ::core::ffi::c_int,
    pub read_body: ::core::ffi::c_int,
    pub read_chunked: ::core::ffi::c_int,
    pub expecting_100: ::core::ffi::c_uint,
    pub kept_body: *mut apr_bucket_brigade,
    pub body_table: *mut apr_table_t,
    pub remaining: apr_off_t,
    pub read_length: apr_off_t,
    pub headers_in: *mut apr_table_t,
    pub headers_out: *mut apr_table_t,
    pub err_headers_out: *mut apr_table_t,
    pub subprocess_env: *mut apr_table_t,
    pub notes: *mut apr_table_t,
    pub content_type: *const ::core::ffi::c_char,
    pub handler: *const ::core::ffi::c_char,
    pub content_encoding: *const ::core::ffi::c_char,
    pub content_languages: *mut apr_array_header_t,
    pub vlist_validator: *mut ::core::ffi::c_char,
    pub user: *mut ::core::ffi::c_char,
    pub ap_auth_type: *mut ::core::ffi::c_char,
    pub unparsed_uri: *mut ::core::ffi::c_char,
    pub uri: *mut ::core::ffi::c_char,
    pub filename: *mut ::core::ffi::c_char,
    pub canonical_filename: *mut ::core::ffi::c_char,
    pub path_info: *mut ::core::ffi::c_char,
    pub args: *mut ::core::ffi::c_char,
    pub used_path_info: ::core::ffi::c_int,
    pub eos_sent: ::core::ffi::c_int,
    pub per_dir_config: *mut ap_conf_vector_t,
    pub request_config: *mut ap_conf_vector_t,
    pub log: *const ap_logconf,
    pub log_id: *const ::core::ffi::c_char,
    pub htaccess: *const htaccess_result,
    pub output_filters: *mut ap_filter_t,
    pub input_filters: *mut ap_filter_t,
    pub proto_output_filters: *mut ap_filter_t,
    pub proto_input_filters: *mut ap_filter_t,
    pub no_cache: ::core::ffi::c_int,
    pub no_local_copy: ::core::ffi::c_int,
    pub invoke_mtx: *mut apr_thread_mutex_t,
    pub parsed_uri: apr_uri_t,
    pub finfo: apr_finfo_t,
    pub useragent_addr: *mut apr_sockaddr_t,
    pub useragent_ip: *mut ::core::ffi::c_char,
    pub trailers_in: *mut apr_table_t,
    pub trailers_out: *mut apr_table_t,
    pub useragent_host: *mut ::core::ffi::c_char,
    pub double_reverse: ::core::ffi::c_int,
    pub bnotes: ap_request_bnotes_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct conn_rec {
    pub pool: *mut apr_pool_t,
    pub base_server: *mut server_rec,
    pub vhost_lookup_data: *mut ::core::ffi::c_void,
    pub local_addr: *mut apr_sockaddr_t,
    pub client_addr: *mut apr_sockaddr_t,
    pub client_ip: *mut ::core::ffi::c_char,
    pub remote_host: *mut ::core::ffi::c_char,
    pub remote_logname: *mut ::core::ffi::c_char,
    pub local_ip: *mut ::core::ffi::c_char,
    pub local_host: *mut ::core::ffi::c_char,
    pub id: ::core::ffi::c_long,
    pub conn_config: *mut ap_conf_vector_t,
    pub notes: *mut apr_table_t,
    pub input_filters: *mut ap_filter_t,
    pub output_filters: *mut ap_filter_t,
    pub sbh: *mut ::core::ffi::c_void,
    pub bucket_alloc: *mut apr_bucket_alloc_t,
    pub cs: *mut conn_state_t,
    pub data_in_input_filters: ::core::ffi::c_int,
    pub data_in_output_filters: ::core::ffi::c_int,
    pub _bitfield_1: __BindgenBitfieldUnit<[u8; 1usize]>,
    pub aborted: ::core::ffi::c_uint,
    pub keepalive: ap_conn_keepalive_e,
    pub keepalives: ::core::ffi::c_int,
    pub log: *const ap_logconf,
    pub log_id: *const ::core::ffi::c_char,
    pub current_thread: *mut apr_thread_t,
    pub master: *mut conn_rec,
    pub outgoing: ::core::ffi::c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct conn_state_t {
    pub state: conn_state_e,
    pub sense: conn_sense_e,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct server_addr_rec {
    pub next: *mut server_addr_rec,
    pub virthost: *mut ::core::ffi::c_char,
    pub host_addr: *mut apr_sockaddr_t,
    pub host_port: apr_port_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ap_logconf {
    pub module_levels: *mut ::core::ffi::c_schar,
    pub level: ::core::ffi::c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct server_rec {
    pub process: *mut process_rec,
    pub next: *mut server_rec,
    pub error_fname: *mut ::core::ffi::c_char,
    pub error_log: *mut apr_file_t,
    pub log: ap_logconf,
    pub module_config: *mut ap_conf_vector_t,
    pub lookup_defaults: *mut ap_conf_vector_t,
    pub defn_name: *const ::core::ffi::c_char,
    pub defn_line_number: ::core::ffi::c_uint,
    pub is_virtual: ::core::ffi::c_char,
    pub port: apr_port_t,
    pub server_scheme: *const ::core::ffi::c_char,
    pub server_admin: *mut ::core::ffi::c_char,
    pub server_hostname: *mut ::core::ffi::c_char,
    pub addrs: *mut server_addr_rec,
    pub timeout: apr_interval_time_t,
    pub keep_alive_timeout: apr_interval_time_t,
    pub keep_alive_max: ::core::ffi::c_int,
    pub keep_alive: ::core::ffi::c_int,
    pub names: *mut apr_array_header_t,
    pub wild_names: *mut apr_array_header_t,
    pub path: *const ::core::ffi::c_char,
    pub pathlen: ::core::ffi::c_int,
    pub limit_req_line: ::core::ffi::c_int,
    pub limit_req_fieldsize: ::core::ffi::c_int,
    pub limit_req_fields: ::core::ffi::c_int,
    pub context: *mut ::core::ffi::c_void,
    pub _bitfield_1: __BindgenBitfieldUnit<[u8; 1usize]>,
    pub __bindgen_padding_0: [u8; 7usize],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ap_directive_t {
    pub directive: *const ::core::ffi::c_char,
    pub args: *const ::core::ffi::c_char,
    pub next: *mut ap_directive_t,
    pub first_child: *mut ap_directive_t,
    pub parent: *mut ap_directive_t,
    pub data: *mut ::core::ffi::c_void,
    pub filename: *const ::core::ffi::c_char,
    pub line_num: ::core::ffi::c_int,
    pub last: *mut ap_directive_t,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct command_struct {
    pub name: *const ::core::ffi::c_char,
    pub func: cmd_func,
    pub cmd_data: *mut ::core::ffi::c_void,
    pub req_override: ::core::ffi::c_int,
    pub args_how: cmd_how,
    pub errmsg: *const ::core::ffi::c_char,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ap_configfile_t {
    pub getch: ::core::option::Option<
        unsafe extern "C" fn(ch: *mut ::core::ffi::c_char, param: *mut ::core::ffi::c_void) -> apr_status_t,
    >,
    pub getstr: ::core::option::Option<
        unsafe extern "C" fn(
            buf: *mut ::core::ffi::c_void,
            bufsiz: apr_size_t,
            param: *mut ::core::ffi::c_void,
        ) -> apr_status_t,
    >,
    pub close: ::core::option::Option<unsafe extern "C" fn(param: *mut ::core::ffi::c_void) -> apr_status_t>,
    pub param: *mut ::core::ffi::c_void,
    pub name: *const ::core::ffi::c_char,
    pub line_number: ::core::ffi::c_uint,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct cmd_parms_struct {
    pub info: *mut ::core::ffi::c_void,
    pub override_: ::core::ffi::c_int,
    pub override_opts: ::core::ffi::c_int,
    pub override_list: *mut apr_table_t,
    pub limited: apr_int64_t,
    pub limited_xmethods: *mut apr_array_header_t,
    pub xlimited: *mut ap_method_list_t,
    pub config_file: *mut ap_configfile_t,
    pub directive: *mut ap_directive_t,
    pub pool: *mut apr_pool_t,
    pub temp_pool: *mut apr_pool_t,
    pub server: *mut server_rec,
    pub path: *mut ::core::ffi::c_char,
    pub cmd: *const command_rec,
    pub context: *mut ap_conf_vector_t,
    pub err_directive: *const ap_directive_t,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct module_struct {
    pub version: ::core::ffi::c_int,
    pub minor_version: ::core::ffi::c_int,
    pub module_index: ::core::ffi::c_int,
    pub name: *const ::core::ffi::c_char,
    pub dynamic_load_handle: *mut ::core::ffi::c_void,
    pub next: *mut module_struct,
    pub magic: ::core::ffi::c_ulong,
    pub rewrite_args: ::core::option::Option<unsafe extern "C" fn(process: *mut process_rec)>,
    pub create_dir_config: ::core::option::Option<
        unsafe extern "C" fn(p: *mut apr_pool_t, dir: *mut ::core::ffi::c_char) -> *mut ::core::ffi::c_void,
    >,
    pub merge_dir_config: ::core::option::Option<
        unsafe extern "C" fn(
            p: *mut apr_pool_t,
            base_conf: *mut ::core::ffi::c_void,
            new_conf: *mut ::core::ffi::c_void,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub create_server_config: ::core::option::Option<
        unsafe extern "C" fn(p: *mut apr_pool_t, s: *mut server_rec) -> *mut ::core::ffi::c_void,
    >,
    pub merge_server_config: ::core::option::Option<
        unsafe extern "C" fn(
            p: *mut apr_pool_t,
            base_conf: *mut ::core::ffi::c_void,
            new_conf: *mut ::core::ffi::c_void,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub cmds: *const command_rec,
    pub register_hooks: ::core::option::Option<unsafe extern "C" fn(p: *mut apr_pool_t)>,
    pub flags: ::core::ffi::c_int,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ap_LINK_pre_connection_t {
    pub pFunc: ap_HOOK_pre_connection_t,
    pub szName: *const ::core::ffi::c_char,
    pub aszPredecessors: *const *const ::core::ffi::c_char,
    pub aszSuccessors: *const *const ::core::ffi::c_char,
    pub nOrder: ::core::ffi::c_int,
}
#[repr(C)]
#[derive(Debug)]
pub struct ap_filter_provider_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ap_filter_rec_t {
    pub name: *const ::core::ffi::c_char,
    pub filter_func: ap_filter_func,
    pub filter_init_func: ap_init_filter_func,
    pub next: *mut ap_filter_rec_t,
    pub providers: *mut ap_filter_provider_t,
    pub ftype: ap_filter_type,
    pub debug: ::core::ffi::c_int,
    pub proto_flags: ::core::ffi::c_uint,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ap_filter_t {
    pub frec: *mut ap_filter_rec_t,
    pub ctx: *mut ::core::ffi::c_void,
    pub next: *mut ap_filter_t,
    pub r: *mut request_rec,
    pub c: *mut conn_rec,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct core_server_config {
    pub gprof_dir: *mut ::core::ffi::c_char,
    pub ap_document_root: *const ::core::ffi::c_char,
    pub access_name: *mut ::core::ffi::c_char,
    pub sec_dir: *mut apr_array_header_t,
    pub sec_url: *mut apr_array_header_t,
    pub redirect_limit: ::core::ffi::c_int,
    pub subreq_limit: ::core::ffi::c_int,
    pub protocol: *const ::core::ffi::c_char,
    pub accf_map: *mut apr_table_t,
    pub error_log_format: *mut apr_array_header_t,
    pub error_log_conn: *mut apr_array_header_t,
    pub error_log_req: *mut apr_array_header_t,
    pub trace_enable: ::core::ffi::c_int,
    pub merge_trailers: ::core::ffi::c_int,
    pub protocols: *mut apr_array_header_t,
    pub protocols_honor_order: ::core::ffi::c_int,
    pub http09_enable: ::core::ffi::c_char,
    pub http_conformance: ::core::ffi::c_char,
    pub http_methods: ::core::ffi::c_char,
    pub merge_slashes: ::core::ffi::c_uint,
    pub flush_max_threshold: apr_size_t,
    pub flush_max_pipelined: apr_int32_t,
    pub strict_host_check: ::core::ffi::c_uint,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ap_errorlog_info {
    pub s: *const server_rec,
    pub c: *const conn_rec,
    pub r: *const request_rec,
    pub rmain: *const request_rec,
    pub pool: *mut apr_pool_t,
    pub file: *const ::core::ffi::c_char,
    pub line: ::core::ffi::c_int,
    pub module_index: ::core::ffi::c_int,
    pub level: ::core::ffi::c_int,
    pub status: apr_status_t,
    pub using_syslog: ::core::ffi::c_int,
    pub startup: ::core::ffi::c_int,
    pub format: *const ::core::ffi::c_char,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ap_LINK_check_user_id_t {
    pub pFunc: ap_HOOK_check_user_id_t,
    pub szName: *const ::core::ffi::c_char,
    pub aszPredecessors: *const *const ::core::ffi::c_char,
    pub aszSuccessors: *const *const ::core::ffi::c_char,
    pub nOrder: ::core::ffi::c_int,
}
#[repr(C)]
#[derive(Debug)]
pub struct ap_watchdog_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct passwd {
    pub pw_name: *mut ::core::ffi::c_char,
    pub pw_passwd: *mut ::core::ffi::c_char,
    pub pw_uid: __uid_t,
    pub pw_gid: __gid_t,
    pub pw_gecos: *mut ::core::ffi::c_char,
    pub pw_dir: *mut ::core::ffi::c_char,
    pub pw_shell: *mut ::core::ffi::c_char,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct unixd_config_rec {
    pub user_name: *const ::core::ffi::c_char,
    pub group_name: *const ::core::ffi::c_char,
    pub user_id: uid_t,
    pub group_id: gid_t,
    pub suexec_enabled: ::core::ffi::c_int,
    pub chroot_dir: *const ::core::ffi::c_char,
    pub suexec_disabled_reason: *const ::core::ffi::c_char,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct apr_file_t {
    pub _address: u8,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ap_conf_vector_t {
    pub _address: u8,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hostent {
    pub _address: u8,
}
pub const APR_HOOK_REALLY_FIRST: i32 = -10;
pub const APR_HOOK_FIRST: u32 = 0;
pub const APR_HOOK_MIDDLE: u32 = 10;
pub const APR_HOOK_LAST: u32 = 20;
pub const MODULE_MAGIC_COOKIE: u32 = 1095774772;
pub const MODULE_MAGIC_NUMBER_MAJOR: u32 = 20120211;
pub const MODULE_MAGIC_NUMBER_MINOR: u32 = 142;
pub const APR_FOPEN_WRITE: u32 = 2;
pub const OK: u32 = 0;
pub const DECLINED: i32 = -1;
pub const HTTP_OK: u32 = 200;
pub const HTTP_MOVED_TEMPORARILY: u32 = 302;
pub const HTTP_UNAUTHORIZED: u32 = 401;
pub const HTTP_FORBIDDEN: u32 = 403;
pub const HTTP_INTERNAL_SERVER_ERROR: u32 = 500;
pub const HTTP_BAD_GATEWAY: u32 = 502;
pub const M_GET: u32 = 0;
pub const M_POST: u32 = 2;
pub const REQUEST_CHUNKED_DECHUNK: u32 = 2;
pub const ACCESS_CONF: u32 = 64;
pub const RSRC_CONF: u32 = 128;
pub const EXEC_ON_READ: u32 = 256;
pub const OPT_INCLUDES: u32 = 2;
pub const AP_SQ_MAIN_STATE: u32 = 0;
pub const AP_SQ_MS_CREATE_PRE_CONFIG: u32 = 2;
pub const APLOG_CRIT: u32 = 2;
pub const APLOG_ERR: u32 = 3;
pub const APLOG_WARNING: u32 = 4;
pub const APLOG_NOTICE: u32 = 5;
pub const APLOG_INFO: u32 = 6;
pub const APLOG_DEBUG: u32 = 7;
pub const APLOG_TRACE1: u32 = 8;
pub const AP_AUTH_INTERNAL_PER_CONF: u32 = 1;
pub const AP_MPMQ_STOPPING: u32 = 2;
pub const AP_MPMQ_IS_THREADED: u32 = 2;
pub const AP_MPMQ_MAX_THREADS: u32 = 6;
pub const AP_MPMQ_MAX_DAEMONS: u32 = 12;
pub const AP_MPMQ_MPM_STATE: u32 = 13;
pub const AP_WATCHDOG_STATE_STARTING: u32 = 1;
pub const AP_WATCHDOG_STATE_RUNNING: u32 = 2;
pub const AP_WATCHDOG_STATE_STOPPING: u32 = 3;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sockaddr_storage"][::core::mem::size_of::<sockaddr_storage>() - 128usize];
    ["Alignment of sockaddr_storage"][::core::mem::align_of::<sockaddr_storage>() - 8usize];
    ["Offset of field: sockaddr_storage::ss_family"][::core::mem::offset_of!(sockaddr_storage, ss_family) - 0usize];
    ["Offset of field: sockaddr_storage::__ss_padding"]
        [::core::mem::offset_of!(sockaddr_storage, __ss_padding) - 2usize];
    ["Offset of field: sockaddr_storage::__ss_align"][::core::mem::offset_of!(sockaddr_storage, __ss_align) - 120usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_array_header_t"][::core::mem::size_of::<apr_array_header_t>() - 32usize];
    ["Alignment of apr_array_header_t"][::core::mem::align_of::<apr_array_header_t>() - 8usize];
    ["Offset of field: apr_array_header_t::pool"][::core::mem::offset_of!(apr_array_header_t, pool) - 0usize];
    ["Offset of field: apr_array_header_t::elt_size"][::core::mem::offset_of!(apr_array_header_t, elt_size) - 8usize];
    ["Offset of field: apr_array_header_t::nelts"][::core::mem::offset_of!(apr_array_header_t, nelts) - 12usize];
    ["Offset of field: apr_array_header_t::nalloc"][::core::mem::offset_of!(apr_array_header_t, nalloc) - 16usize];
    ["Offset of field: apr_array_header_t::elts"][::core::mem::offset_of!(apr_array_header_t, elts) - 24usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_table_entry_t"][::core::mem::size_of::<apr_table_entry_t>() - 24usize];
    ["Alignment of apr_table_entry_t"][::core::mem::align_of::<apr_table_entry_t>() - 8usize];
    ["Offset of field: apr_table_entry_t::key"][::core::mem::offset_of!(apr_table_entry_t, key) - 0usize];
    ["Offset of field: apr_table_entry_t::val"][::core::mem::offset_of!(apr_table_entry_t, val) - 8usize];
    ["Offset of field: apr_table_entry_t::key_checksum"]
        [::core::mem::offset_of!(apr_table_entry_t, key_checksum) - 16usize];
};
pub const apr_filetype_e_APR_NOFILE: apr_filetype_e = 0;
pub const apr_filetype_e_APR_REG: apr_filetype_e = 1;
pub const apr_filetype_e_APR_DIR: apr_filetype_e = 2;
pub const apr_filetype_e_APR_CHR: apr_filetype_e = 3;
pub const apr_filetype_e_APR_BLK: apr_filetype_e = 4;
pub const apr_filetype_e_APR_PIPE: apr_filetype_e = 5;
pub const apr_filetype_e_APR_LNK: apr_filetype_e = 6;
pub const apr_filetype_e_APR_SOCK: apr_filetype_e = 7;
pub const apr_filetype_e_APR_UNKFILE: apr_filetype_e = 127;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_finfo_t"][::core::mem::size_of::<apr_finfo_t>() - 120usize];
    ["Alignment of apr_finfo_t"][::core::mem::align_of::<apr_finfo_t>() - 8usize];
    ["Offset of field: apr_finfo_t::pool"][::core::mem::offset_of!(apr_finfo_t, pool) - 0usize];
    ["Offset of field: apr_finfo_t::valid"][::core::mem::offset_of!(apr_finfo_t, valid) - 8usize];
    ["Offset of field: apr_finfo_t::protection"][::core::mem::offset_of!(apr_finfo_t, protection) - 12usize];
    ["Offset of field: apr_finfo_t::filetype"][::core::mem::offset_of!(apr_finfo_t, filetype) - 16usize];
    ["Offset of field: apr_finfo_t::user"][::core::mem::offset_of!(apr_finfo_t, user) - 20usize];
    ["Offset of field: apr_finfo_t::group"][::core::mem::offset_of!(apr_finfo_t, group) - 24usize];
    ["Offset of field: apr_finfo_t::inode"][::core::mem::offset_of!(apr_finfo_t, inode) - 32usize];
    ["Offset of field: apr_finfo_t::device"][::core::mem::offset_of!(apr_finfo_t, device) - 40usize];
    ["Offset of field: apr_finfo_t::nlink"][::core::mem::offset_of!(apr_finfo_t, nlink) - 48usize];
    ["Offset of field: apr_finfo_t::size"][::core::mem::offset_of!(apr_finfo_t, size) - 56usize];
    ["Offset of field: apr_finfo_t::csize"][::core::mem::offset_of!(apr_finfo_t, csize) - 64usize];
    ["Offset of field: apr_finfo_t::atime"][::core::mem::offset_of!(apr_finfo_t, atime) - 72usize];
    ["Offset of field: apr_finfo_t::mtime"][::core::mem::offset_of!(apr_finfo_t, mtime) - 80usize];
    ["Offset of field: apr_finfo_t::ctime"][::core::mem::offset_of!(apr_finfo_t, ctime) - 88usize];
    ["Offset of field: apr_finfo_t::fname"][::core::mem::offset_of!(apr_finfo_t, fname) - 96usize];
    ["Offset of field: apr_finfo_t::name"][::core::mem::offset_of!(apr_finfo_t, name) - 104usize];
    ["Offset of field: apr_finfo_t::filehand"][::core::mem::offset_of!(apr_finfo_t, filehand) - 112usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of in_addr"][::core::mem::size_of::<in_addr>() - 4usize];
    ["Alignment of in_addr"][::core::mem::align_of::<in_addr>() - 4usize];
    ["Offset of field: in_addr::s_addr"][::core::mem::offset_of!(in_addr, s_addr) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of in6_addr__bindgen_ty_1"][::core::mem::size_of::<in6_addr__bindgen_ty_1>() - 16usize];
    ["Alignment of in6_addr__bindgen_ty_1"][::core::mem::align_of::<in6_addr__bindgen_ty_1>() - 4usize];
    ["Offset of field: in6_addr__bindgen_ty_1::__u6_addr8"]
        [::core::mem::offset_of!(in6_addr__bindgen_ty_1, __u6_addr8) - 0usize];
    ["Offset of field: in6_addr__bindgen_ty_1::__u6_addr16"]
        [::core::mem::offset_of!(in6_addr__bindgen_ty_1, __u6_addr16) - 0usize];
    ["Offset of field: in6_addr__bindgen_ty_1::__u6_addr32"]
        [::core::mem::offset_of!(in6_addr__bindgen_ty_1, __u6_addr32) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of in6_addr"][::core::mem::size_of::<in6_addr>() - 16usize];
    ["Alignment of in6_addr"][::core::mem::align_of::<in6_addr>() - 4usize];
    ["Offset of field: in6_addr::__in6_u"][::core::mem::offset_of!(in6_addr, __in6_u) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sockaddr_in"][::core::mem::size_of::<sockaddr_in>() - 16usize];
    ["Alignment of sockaddr_in"][::core::mem::align_of::<sockaddr_in>() - 4usize];
    ["Offset of field: sockaddr_in::sin_family"][::core::mem::offset_of!(sockaddr_in, sin_family) - 0usize];
    ["Offset of field: sockaddr_in::sin_port"][::core::mem::offset_of!(sockaddr_in, sin_port) - 2usize];
    ["Offset of field: sockaddr_in::sin_addr"][::core::mem::offset_of!(sockaddr_in, sin_addr) - 4usize];
    ["Offset of field: sockaddr_in::sin_zero"][::core::mem::offset_of!(sockaddr_in, sin_zero) - 8usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sockaddr_in6"][::core::mem::size_of::<sockaddr_in6>() - 28usize];
    ["Alignment of sockaddr_in6"][::core::mem::align_of::<sockaddr_in6>() - 4usize];
    ["Offset of field: sockaddr_in6::sin6_family"][::core::mem::offset_of!(sockaddr_in6, sin6_family) - 0usize];
    ["Offset of field: sockaddr_in6::sin6_port"][::core::mem::offset_of!(sockaddr_in6, sin6_port) - 2usize];
    ["Offset of field: sockaddr_in6::sin6_flowinfo"][::core::mem::offset_of!(sockaddr_in6, sin6_flowinfo) - 4usize];
    ["Offset of field: sockaddr_in6::sin6_addr"][::core::mem::offset_of!(sockaddr_in6, sin6_addr) - 8usize];
    ["Offset of field: sockaddr_in6::sin6_scope_id"][::core::mem::offset_of!(sockaddr_in6, sin6_scope_id) - 24usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sockaddr_un"][::core::mem::size_of::<sockaddr_un>() - 110usize];
    ["Alignment of sockaddr_un"][::core::mem::align_of::<sockaddr_un>() - 2usize];
    ["Offset of field: sockaddr_un::sun_family"][::core::mem::offset_of!(sockaddr_un, sun_family) - 0usize];
    ["Offset of field: sockaddr_un::sun_path"][::core::mem::offset_of!(sockaddr_un, sun_path) - 2usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_sockaddr_t__bindgen_ty_1"][::core::mem::size_of::<apr_sockaddr_t__bindgen_ty_1>() - 128usize];
    ["Alignment of apr_sockaddr_t__bindgen_ty_1"][::core::mem::align_of::<apr_sockaddr_t__bindgen_ty_1>() - 8usize];
    ["Offset of field: apr_sockaddr_t__bindgen_ty_1::sin"]
        [::core::mem::offset_of!(apr_sockaddr_t__bindgen_ty_1, sin) - 0usize];
    ["Offset of field: apr_sockaddr_t__bindgen_ty_1::sin6"]
        [::core::mem::offset_of!(apr_sockaddr_t__bindgen_ty_1, sin6) - 0usize];
    ["Offset of field: apr_sockaddr_t__bindgen_ty_1::sas"]
        [::core::mem::offset_of!(apr_sockaddr_t__bindgen_ty_1, sas) - 0usize];
    ["Offset of field: apr_sockaddr_t__bindgen_ty_1::unx"]
        [::core::mem::offset_of!(apr_sockaddr_t__bindgen_ty_1, unx) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_sockaddr_t"][::core::mem::size_of::<apr_sockaddr_t>() - 192usize];
    ["Alignment of apr_sockaddr_t"][::core::mem::align_of::<apr_sockaddr_t>() - 8usize];
    ["Offset of field: apr_sockaddr_t::pool"][::core::mem::offset_of!(apr_sockaddr_t, pool) - 0usize];
    ["Offset of field: apr_sockaddr_t::hostname"][::core::mem::offset_of!(apr_sockaddr_t, hostname) - 8usize];
    ["Offset of field: apr_sockaddr_t::servname"][::core::mem::offset_of!(apr_sockaddr_t, servname) - 16usize];
    ["Offset of field: apr_sockaddr_t::port"][::core::mem::offset_of!(apr_sockaddr_t, port) - 24usize];
    ["Offset of field: apr_sockaddr_t::family"][::core::mem::offset_of!(apr_sockaddr_t, family) - 28usize];
    ["Offset of field: apr_sockaddr_t::salen"][::core::mem::offset_of!(apr_sockaddr_t, salen) - 32usize];
    ["Offset of field: apr_sockaddr_t::ipaddr_len"][::core::mem::offset_of!(apr_sockaddr_t, ipaddr_len) - 36usize];
    ["Offset of field: apr_sockaddr_t::addr_str_len"][::core::mem::offset_of!(apr_sockaddr_t, addr_str_len) - 40usize];
    ["Offset of field: apr_sockaddr_t::ipaddr_ptr"][::core::mem::offset_of!(apr_sockaddr_t, ipaddr_ptr) - 48usize];
    ["Offset of field: apr_sockaddr_t::next"][::core::mem::offset_of!(apr_sockaddr_t, next) - 56usize];
    ["Offset of field: apr_sockaddr_t::sa"][::core::mem::offset_of!(apr_sockaddr_t, sa) - 64usize];
};
pub const apr_read_type_e_APR_BLOCK_READ: apr_read_type_e = 0;
pub const apr_read_type_e_APR_NONBLOCK_READ: apr_read_type_e = 1;
pub const apr_bucket_type_t_APR_BUCKET_DATA: apr_bucket_type_t__bindgen_ty_1 = 0;
pub const apr_bucket_type_t_APR_BUCKET_METADATA: apr_bucket_type_t__bindgen_ty_1 = 1;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_bucket_type_t"][::core::mem::size_of::<apr_bucket_type_t>() - 56usize];
    ["Alignment of apr_bucket_type_t"][::core::mem::align_of::<apr_bucket_type_t>() - 8usize];
    ["Offset of field: apr_bucket_type_t::name"][::core::mem::offset_of!(apr_bucket_type_t, name) - 0usize];
    ["Offset of field: apr_bucket_type_t::num_func"][::core::mem::offset_of!(apr_bucket_type_t, num_func) - 8usize];
    ["Offset of field: apr_bucket_type_t::is_metadata"]
        [::core::mem::offset_of!(apr_bucket_type_t, is_metadata) - 12usize];
    ["Offset of field: apr_bucket_type_t::destroy"][::core::mem::offset_of!(apr_bucket_type_t, destroy) - 16usize];
    ["Offset of field: apr_bucket_type_t::read"][::core::mem::offset_of!(apr_bucket_type_t, read) - 24usize];
    ["Offset of field: apr_bucket_type_t::setaside"][::core::mem::offset_of!(apr_bucket_type_t, setaside) - 32usize];
    ["Offset of field: apr_bucket_type_t::split"][::core::mem::offset_of!(apr_bucket_type_t, split) - 40usize];
    ["Offset of field: apr_bucket_type_t::copy"][::core::mem::offset_of!(apr_bucket_type_t, copy) - 48usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_bucket__bindgen_ty_1"][::core::mem::size_of::<apr_bucket__bindgen_ty_1>() - 16usize];
    ["Alignment of apr_bucket__bindgen_ty_1"][::core::mem::align_of::<apr_bucket__bindgen_ty_1>() - 8usize];
    ["Offset of field: apr_bucket__bindgen_ty_1::next"]
        [::core::mem::offset_of!(apr_bucket__bindgen_ty_1, next) - 0usize];
    ["Offset of field: apr_bucket__bindgen_ty_1::prev"]
        [::core::mem::offset_of!(apr_bucket__bindgen_ty_1, prev) - 8usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_bucket"][::core::mem::size_of::<apr_bucket>() - 64usize];
    ["Alignment of apr_bucket"][::core::mem::align_of::<apr_bucket>() - 8usize];
    ["Offset of field: apr_bucket::link"][::core::mem::offset_of!(apr_bucket, link) - 0usize];
    ["Offset of field: apr_bucket::type_"][::core::mem::offset_of!(apr_bucket, type_) - 16usize];
    ["Offset of field: apr_bucket::length"][::core::mem::offset_of!(apr_bucket, length) - 24usize];
    ["Offset of field: apr_bucket::start"][::core::mem::offset_of!(apr_bucket, start) - 32usize];
    ["Offset of field: apr_bucket::data"][::core::mem::offset_of!(apr_bucket, data) - 40usize];
    ["Offset of field: apr_bucket::free"][::core::mem::offset_of!(apr_bucket, free) - 48usize];
    ["Offset of field: apr_bucket::list"][::core::mem::offset_of!(apr_bucket, list) - 56usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_bucket_brigade_apr_bucket_list"]
        [::core::mem::size_of::<apr_bucket_brigade_apr_bucket_list>() - 16usize];
    ["Alignment of apr_bucket_brigade_apr_bucket_list"]
        [::core::mem::align_of::<apr_bucket_brigade_apr_bucket_list>() - 8usize];
    ["Offset of field: apr_bucket_brigade_apr_bucket_list::next"]
        [::core::mem::offset_of!(apr_bucket_brigade_apr_bucket_list, next) - 0usize];
    ["Offset of field: apr_bucket_brigade_apr_bucket_list::prev"]
        [::core::mem::offset_of!(apr_bucket_brigade_apr_bucket_list, prev) - 8usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_bucket_brigade"][::core::mem::size_of::<apr_bucket_brigade>() - 32usize];
    ["Alignment of apr_bucket_brigade"][::core::mem::align_of::<apr_bucket_brigade>() - 8usize];
    ["Offset of field: apr_bucket_brigade::p"][::core::mem::offset_of!(apr_bucket_brigade, p) - 0usize];
    ["Offset of field: apr_bucket_brigade::list"][::core::mem::offset_of!(apr_bucket_brigade, list) - 8usize];
    ["Offset of field: apr_bucket_brigade::bucket_alloc"]
        [::core::mem::offset_of!(apr_bucket_brigade, bucket_alloc) - 24usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_bucket_refcount"][::core::mem::size_of::<apr_bucket_refcount>() - 4usize];
    ["Alignment of apr_bucket_refcount"][::core::mem::align_of::<apr_bucket_refcount>() - 4usize];
    ["Offset of field: apr_bucket_refcount::refcount"][::core::mem::offset_of!(apr_bucket_refcount, refcount) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_bucket_file"][::core::mem::size_of::<apr_bucket_file>() - 40usize];
    ["Alignment of apr_bucket_file"][::core::mem::align_of::<apr_bucket_file>() - 8usize];
    ["Offset of field: apr_bucket_file::refcount"][::core::mem::offset_of!(apr_bucket_file, refcount) - 0usize];
    ["Offset of field: apr_bucket_file::fd"][::core::mem::offset_of!(apr_bucket_file, fd) - 8usize];
    ["Offset of field: apr_bucket_file::readpool"][::core::mem::offset_of!(apr_bucket_file, readpool) - 16usize];
    ["Offset of field: apr_bucket_file::can_mmap"][::core::mem::offset_of!(apr_bucket_file, can_mmap) - 24usize];
    ["Offset of field: apr_bucket_file::read_size"][::core::mem::offset_of!(apr_bucket_file, read_size) - 32usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_method_list_t"][::core::mem::size_of::<ap_method_list_t>() - 16usize];
    ["Alignment of ap_method_list_t"][::core::mem::align_of::<ap_method_list_t>() - 8usize];
    ["Offset of field: ap_method_list_t::method_mask"][::core::mem::offset_of!(ap_method_list_t, method_mask) - 0usize];
    ["Offset of field: ap_method_list_t::method_list"][::core::mem::offset_of!(ap_method_list_t, method_list) - 8usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of htaccess_result"][::core::mem::size_of::<htaccess_result>() - 40usize];
    ["Alignment of htaccess_result"][::core::mem::align_of::<htaccess_result>() - 8usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of apr_uri_t"][::core::mem::size_of::<apr_uri_t>() - 88usize];
    ["Alignment of apr_uri_t"][::core::mem::align_of::<apr_uri_t>() - 8usize];
    ["Offset of field: apr_uri_t::scheme"][::core::mem::offset_of!(apr_uri_t, scheme) - 0usize];
    ["Offset of field: apr_uri_t::hostinfo"][::core::mem::offset_of!(apr_uri_t, hostinfo) - 8usize];
    ["Offset of field: apr_uri_t::user"][::core::mem::offset_of!(apr_uri_t, user) - 16usize];
    ["Offset of field: apr_uri_t::password"][::core::mem::offset_of!(apr_uri_t, password) - 24usize];
    ["Offset of field: apr_uri_t::hostname"][::core::mem::offset_of!(apr_uri_t, hostname) - 32usize];
    ["Offset of field: apr_uri_t::port_str"][::core::mem::offset_of!(apr_uri_t, port_str) - 40usize];
    ["Offset of field: apr_uri_t::path"][::core::mem::offset_of!(apr_uri_t, path) - 48usize];
    ["Offset of field: apr_uri_t::query"][::core::mem::offset_of!(apr_uri_t, query) - 56usize];
    ["Offset of field: apr_uri_t::fragment"][::core::mem::offset_of!(apr_uri_t, fragment) - 64usize];
    ["Offset of field: apr_uri_t::hostent"][::core::mem::offset_of!(apr_uri_t, hostent) - 72usize];
    ["Offset of field: apr_uri_t::port"][::core::mem::offset_of!(apr_uri_t, port) - 80usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of process_rec"][::core::mem::size_of::<process_rec>() - 40usize];
    ["Alignment of process_rec"][::core::mem::align_of::<process_rec>() - 8usize];
    ["Offset of field: process_rec::pool"][::core::mem::offset_of!(process_rec, pool) - 0usize];
    ["Offset of field: process_rec::pconf"][::core::mem::offset_of!(process_rec, pconf) - 8usize];
    ["Offset of field: process_rec::short_name"][::core::mem::offset_of!(process_rec, short_name) - 16usize];
    ["Offset of field: process_rec::argv"][::core::mem::offset_of!(process_rec, argv) - 24usize];
    ["Offset of field: process_rec::argc"][::core::mem::offset_of!(process_rec, argc) - 32usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of request_rec"][::core::mem::size_of::<request_rec>() - 736usize];
    ["Alignment of request_rec"][::core::mem::align_of::<request_rec>() - 8usize];
    ["Offset of field: request_rec::pool"][::core::mem::offset_of!(request_rec, pool) - 0usize];
    ["Offset of field: request_rec::connection"][::core::mem::offset_of!(request_rec, connection) - 8usize];
    ["Offset of field: request_rec::server"][::core::mem::offset_of!(request_rec, server) - 16usize];
    ["Offset of field: request_rec::next"][::core::mem::offset_of!(request_rec, next) - 24usize];
    ["Offset of field: request_rec::prev"][::core::mem::offset_of!(request_rec, prev) - 32usize];
    ["Offset of field: request_rec::main"][::core::mem::offset_of!(request_rec, main) - 40usize];
    ["Offset of field: request_rec::the_request"][::core::mem::offset_of!(request_rec, the_request) - 48usize];
    ["Offset of field: request_rec::assbackwards"][::core::mem::offset_of!(request_rec, assbackwards) - 56usize];
    ["Offset of field: request_rec::proxyreq"][::core::mem::offset_of!(request_rec, proxyreq) - 60usize];
    ["Offset of field: request_rec::header_only"][::core::mem::offset_of!(request_rec, header_only) - 64usize];
    ["Offset of field: request_rec::proto_num"][::core::mem::offset_of!(request_rec, proto_num) - 68usize];
    ["Offset of field: request_rec::protocol"][::core::mem::offset_of!(request_rec, protocol) - 72usize];
    ["Offset of field: request_rec::hostname"][::core::mem::offset_of!(request_rec, hostname) - 80usize];
    ["Offset of field: request_rec::request_time"][::core::mem::offset_of!(request_rec, request_time) - 88usize];
    ["Offset of field: request_rec::status_line"][::core::mem::offset_of!(request_rec, status_line) - 96usize];
    ["Offset of field: request_rec::status"][::core::mem::offset_of!(request_rec, status) - 104usize];
    ["Offset of field: request_rec::method_number"][::core::mem::offset_of!(request_rec, method_number) - 108usize];
    ["Offset of field: request_rec::method"][::core::mem::offset_of!(request_rec, method) - 112usize];
    ["Offset of field: request_rec::allowed"][::core::mem::offset_of!(request_rec, allowed) - 120usize];
    ["Offset of field: request_rec::allowed_xmethods"]
        [::core::mem::offset_of!(request_rec, allowed_xmethods) - 128usize];
    ["Offset of field: request_rec::allowed_methods"][::core::mem::offset_of!(request_rec, allowed_methods) - 136usize];
    ["Offset of field: request_rec::sent_bodyct"][::core::mem::offset_of!(request_rec, sent_bodyct) - 144usize];
    ["Offset of field: request_rec::bytes_sent"][::core::mem::offset_of!(request_rec, bytes_sent) - 152usize];
    ["Offset of field: request_rec::mtime"][::core::mem::offset_of!(request_rec, mtime) - 160usize];
    ["Offset of field: request_rec::range"][::core::mem::offset_of!(request_rec, range) - 168usize];
    ["Offset of field: request_rec::clength"][::core::mem::offset_of!(request_rec, clength) - 176usize];
    ["Offset of field: request_rec::chunked"][::core::mem::offset_of!(request_rec, chunked) - 184usize];
    ["Offset of field: request_rec::read_body"][::core::mem::offset_of!(request_rec, read_body) - 188usize];
    ["Offset of field: request_rec::read_chunked"][::core::mem::offset_of!(request_rec, read_chunked) - 192usize];
    ["Offset of field: request_rec::expecting_100"][::core::mem::offset_of!(request_rec, expecting_100) - 196usize];
    ["Offset of field: request_rec::kept_body"][::core::mem::offset_of!(request_rec, kept_body) - 200usize];
    ["Offset of field: request_rec::body_table"][::core::mem::offset_of!(request_rec, body_table) - 208usize];
    ["Offset of field: request_rec::remaining"][::core::mem::offset_of!(request_rec, remaining) - 216usize];
    ["Offset of field: request_rec::read_length"][::core::mem::offset_of!(request_rec, read_length) - 224usize];
    ["Offset of field: request_rec::headers_in"][::core::mem::offset_of!(request_rec, headers_in) - 232usize];
    ["Offset of field: request_rec::headers_out"][::core::mem::offset_of!(request_rec, headers_out) - 240usize];
    ["Offset of field: request_rec::err_headers_out"][::core::mem::offset_of!(request_rec, err_headers_out) - 248usize];
    ["Offset of field: request_rec::subprocess_env"][::core::mem::offset_of!(request_rec, subprocess_env) - 256usize];
    ["Offset of field: request_rec::notes"][::core::mem::offset_of!(request_rec, notes) - 264usize];
    ["Offset of field: request_rec::content_type"][::core::mem::offset_of!(request_rec, content_type) - 272usize];
    ["Offset of field: request_rec::handler"][::core::mem::offset_of!(request_rec, handler) - 280usize];
    ["Offset of field: request_rec::content_encoding"]
        [::core::mem::offset_of!(request_rec, content_encoding) - 288usize];
    ["Offset of field: request_rec::content_languages"]
        [::core::mem::offset_of!(request_rec, content_languages) - 296usize];
    ["Offset of field: request_rec::vlist_validator"][::core::mem::offset_of!(request_rec, vlist_validator) - 304usize];
    ["Offset of field: request_rec::user"][::core::mem::offset_of!(request_rec, user) - 312usize];
    ["Offset of field: request_rec::ap_auth_type"][::core::mem::offset_of!(request_rec, ap_auth_type) - 320usize];
    ["Offset of field: request_rec::unparsed_uri"][::core::mem::offset_of!(request_rec, unparsed_uri) - 328usize];
    ["Offset of field: request_rec::uri"][::core::mem::offset_of!(request_rec, uri) - 336usize];
    ["Offset of field: request_rec::filename"][::core::mem::offset_of!(request_rec, filename) - 344usize];
    ["Offset of field: request_rec::canonical_filename"]
        [::core::mem::offset_of!(request_rec, canonical_filename) - 352usize];
    ["Offset of field: request_rec::path_info"][::core::mem::offset_of!(request_rec, path_info) - 360usize];
    ["Offset of field: request_rec::args"][::core::mem::offset_of!(request_rec, args) - 368usize];
    ["Offset of field: request_rec::used_path_info"][::core::mem::offset_of!(request_rec, used_path_info) - 376usize];
    ["Offset of field: request_rec::eos_sent"][::core::mem::offset_of!(request_rec, eos_sent) - 380usize];
    ["Offset of field: request_rec::per_dir_config"][::core::mem::offset_of!(request_rec, per_dir_config) - 384usize];
    ["Offset of field: request_rec::request_config"][::core::mem::offset_of!(request_rec, request_config) - 392usize];
    ["Offset of field: request_rec::log"][::core::mem::offset_of!(request_rec, log) - 400usize];
    ["Offset of field: request_rec::log_id"][::core::mem::offset_of!(request_rec, log_id) - 408usize];
    ["Offset of field: request_rec::htaccess"][::core::mem::offset_of!(request_rec, htaccess) - 416usize];
    ["Offset of field: request_rec::output_filters"][::core::mem::offset_of!(request_rec, output_filters) - 424usize];
    ["Offset of field: request_rec::input_filters"][::core::mem::offset_of!(request_rec, input_filters) - 432usize];
    ["Offset of field: request_rec::proto_output_filters"]
        [::core::mem::offset_of!(request_rec, proto_output_filters) - 440usize];
    ["Offset of field: request_rec::proto_input_filters"]
        [::core::mem::offset_of!(request_rec, proto_input_filters) - 448usize];
    ["Offset of field: request_rec::no_cache"][::core::mem::offset_of!(request_rec, no_cache) - 456usize];
    ["Offset of field: request_rec::no_local_copy"][::core::mem::offset_of!(request_rec, no_local_copy) - 460usize];
    ["Offset of field: request_rec::invoke_mtx"][::core::mem::offset_of!(request_rec, invoke_mtx) - 464usize];
    ["Offset of field: request_rec::parsed_uri"][::core::mem::offset_of!(request_rec, parsed_uri) - 472usize];
    ["Offset of field: request_rec::finfo"][::core::mem::offset_of!(request_rec, finfo) - 560usize];
    ["Offset of field: request_rec::useragent_addr"][::core::mem::offset_of!(request_rec, useragent_addr) - 680usize];
    ["Offset of field: request_rec::useragent_ip"][::core::mem::offset_of!(request_rec, useragent_ip) - 688usize];
    ["Offset of field: request_rec::trailers_in"][::core::mem::offset_of!(request_rec, trailers_in) - 696usize];
    ["Offset of field: request_rec::trailers_out"][::core::mem::offset_of!(request_rec, trailers_out) - 704usize];
    ["Offset of field: request_rec::useragent_host"][::core::mem::offset_of!(request_rec, useragent_host) - 712usize];
    ["Offset of field: request_rec::double_reverse"][::core::mem::offset_of!(request_rec, double_reverse) - 720usize];
    ["Offset of field: request_rec::bnotes"][::core::mem::offset_of!(request_rec, bnotes) - 728usize];
};
pub const ap_conn_keepalive_e_AP_CONN_UNKNOWN: ap_conn_keepalive_e = 0;
pub const ap_conn_keepalive_e_AP_CONN_CLOSE: ap_conn_keepalive_e = 1;
pub const ap_conn_keepalive_e_AP_CONN_KEEPALIVE: ap_conn_keepalive_e = 2;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of conn_rec"][::core::mem::size_of::<conn_rec>() - 208usize];
    ["Alignment of conn_rec"][::core::mem::align_of::<conn_rec>() - 8usize];
    ["Offset of field: conn_rec::pool"][::core::mem::offset_of!(conn_rec, pool) - 0usize];
    ["Offset of field: conn_rec::base_server"][::core::mem::offset_of!(conn_rec, base_server) - 8usize];
    ["Offset of field: conn_rec::vhost_lookup_data"][::core::mem::offset_of!(conn_rec, vhost_lookup_data) - 16usize];
    ["Offset of field: conn_rec::local_addr"][::core::mem::offset_of!(conn_rec, local_addr) - 24usize];
    ["Offset of field: conn_rec::client_addr"][::core::mem::offset_of!(conn_rec, client_addr) - 32usize];
    ["Offset of field: conn_rec::client_ip"][::core::mem::offset_of!(conn_rec, client_ip) - 40usize];
    ["Offset of field: conn_rec::remote_host"][::core::mem::offset_of!(conn_rec, remote_host) - 48usize];
    ["Offset of field: conn_rec::remote_logname"][::core::mem::offset_of!(conn_rec, remote_logname) - 56usize];
    ["Offset of field: conn_rec::local_ip"][::core::mem::offset_of!(conn_rec, local_ip) - 64usize];
    ["Offset of field: conn_rec::local_host"][::core::mem::offset_of!(conn_rec, local_host) - 72usize];
    ["Offset of field: conn_rec::id"][::core::mem::offset_of!(conn_rec, id) - 80usize];
    ["Offset of field: conn_rec::conn_config"][::core::mem::offset_of!(conn_rec, conn_config) - 88usize];
    ["Offset of field: conn_rec::notes"][::core::mem::offset_of!(conn_rec, notes) - 96usize];
    ["Offset of field: conn_rec::input_filters"][::core::mem::offset_of!(conn_rec, input_filters) - 104usize];
    ["Offset of field: conn_rec::output_filters"][::core::mem::offset_of!(conn_rec, output_filters) - 112usize];
    ["Offset of field: conn_rec::sbh"][::core::mem::offset_of!(conn_rec, sbh) - 120usize];
    ["Offset of field: conn_rec::bucket_alloc"][::core::mem::offset_of!(conn_rec, bucket_alloc) - 128usize];
    ["Offset of field: conn_rec::cs"][::core::mem::offset_of!(conn_rec, cs) - 136usize];
    ["Offset of field: conn_rec::data_in_input_filters"]
        [::core::mem::offset_of!(conn_rec, data_in_input_filters) - 144usize];
    ["Offset of field: conn_rec::data_in_output_filters"]
        [::core::mem::offset_of!(conn_rec, data_in_output_filters) - 148usize];
    ["Offset of field: conn_rec::aborted"][::core::mem::offset_of!(conn_rec, aborted) - 156usize];
    ["Offset of field: conn_rec::keepalive"][::core::mem::offset_of!(conn_rec, keepalive) - 160usize];
    ["Offset of field: conn_rec::keepalives"][::core::mem::offset_of!(conn_rec, keepalives) - 164usize];
    ["Offset of field: conn_rec::log"][::core::mem::offset_of!(conn_rec, log) - 168usize];
    ["Offset of field: conn_rec::log_id"][::core::mem::offset_of!(conn_rec, log_id) - 176usize];
    ["Offset of field: conn_rec::current_thread"][::core::mem::offset_of!(conn_rec, current_thread) - 184usize];
    ["Offset of field: conn_rec::master"][::core::mem::offset_of!(conn_rec, master) - 192usize];
    ["Offset of field: conn_rec::outgoing"][::core::mem::offset_of!(conn_rec, outgoing) - 200usize];
};
pub const conn_state_e_CONN_STATE_KEEPALIVE: conn_state_e = 0;
pub const conn_state_e_CONN_STATE_PROCESSING: conn_state_e = 1;
pub const conn_state_e_CONN_STATE_HANDLER: conn_state_e = 2;
pub const conn_state_e_CONN_STATE_WRITE_COMPLETION: conn_state_e = 3;
pub const conn_state_e_CONN_STATE_SUSPENDED: conn_state_e = 4;
pub const conn_state_e_CONN_STATE_LINGER: conn_state_e = 5;
pub const conn_state_e_CONN_STATE_LINGER_NORMAL: conn_state_e = 6;
pub const conn_state_e_CONN_STATE_LINGER_SHORT: conn_state_e = 7;
pub const conn_state_e_CONN_STATE_ASYNC_WAITIO: conn_state_e = 8;
pub const conn_state_e_CONN_STATE_NUM: conn_state_e = 9;
pub const conn_state_e_CONN_STATE_CHECK_REQUEST_LINE_READABLE: conn_state_e = 0;
pub const conn_state_e_CONN_STATE_READ_REQUEST_LINE: conn_state_e = 1;
pub const conn_sense_e_CONN_SENSE_DEFAULT: conn_sense_e = 0;
pub const conn_sense_e_CONN_SENSE_WANT_READ: conn_sense_e = 1;
pub const conn_sense_e_CONN_SENSE_WANT_WRITE: conn_sense_e = 2;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of conn_state_t"][::core::mem::size_of::<conn_state_t>() - 8usize];
    ["Alignment of conn_state_t"][::core::mem::align_of::<conn_state_t>() - 4usize];
    ["Offset of field: conn_state_t::state"][::core::mem::offset_of!(conn_state_t, state) - 0usize];
    ["Offset of field: conn_state_t::sense"][::core::mem::offset_of!(conn_state_t, sense) - 4usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of server_addr_rec"][::core::mem::size_of::<server_addr_rec>() - 32usize];
    ["Alignment of server_addr_rec"][::core::mem::align_of::<server_addr_rec>() - 8usize];
    ["Offset of field: server_addr_rec::next"][::core::mem::offset_of!(server_addr_rec, next) - 0usize];
    ["Offset of field: server_addr_rec::virthost"][::core::mem::offset_of!(server_addr_rec, virthost) - 8usize];
    ["Offset of field: server_addr_rec::host_addr"][::core::mem::offset_of!(server_addr_rec, host_addr) - 16usize];
    ["Offset of field: server_addr_rec::host_port"][::core::mem::offset_of!(server_addr_rec, host_port) - 24usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_logconf"][::core::mem::size_of::<ap_logconf>() - 16usize];
    ["Alignment of ap_logconf"][::core::mem::align_of::<ap_logconf>() - 8usize];
    ["Offset of field: ap_logconf::module_levels"][::core::mem::offset_of!(ap_logconf, module_levels) - 0usize];
    ["Offset of field: ap_logconf::level"][::core::mem::offset_of!(ap_logconf, level) - 8usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of server_rec"][::core::mem::size_of::<server_rec>() - 192usize];
    ["Alignment of server_rec"][::core::mem::align_of::<server_rec>() - 8usize];
    ["Offset of field: server_rec::process"][::core::mem::offset_of!(server_rec, process) - 0usize];
    ["Offset of field: server_rec::next"][::core::mem::offset_of!(server_rec, next) - 8usize];
    ["Offset of field: server_rec::error_fname"][::core::mem::offset_of!(server_rec, error_fname) - 16usize];
    ["Offset of field: server_rec::error_log"][::core::mem::offset_of!(server_rec, error_log) - 24usize];
    ["Offset of field: server_rec::log"][::core::mem::offset_of!(server_rec, log) - 32usize];
    ["Offset of field: server_rec::module_config"][::core::mem::offset_of!(server_rec, module_config) - 48usize];
    ["Offset of field: server_rec::lookup_defaults"][::core::mem::offset_of!(server_rec, lookup_defaults) - 56usize];
    ["Offset of field: server_rec::defn_name"][::core::mem::offset_of!(server_rec, defn_name) - 64usize];
    ["Offset of field: server_rec::defn_line_number"][::core::mem::offset_of!(server_rec, defn_line_number) - 72usize];
    ["Offset of field: server_rec::is_virtual"][::core::mem::offset_of!(server_rec, is_virtual) - 76usize];
    ["Offset of field: server_rec::port"][::core::mem::offset_of!(server_rec, port) - 78usize];
    ["Offset of field: server_rec::server_scheme"][::core::mem::offset_of!(server_rec, server_scheme) - 80usize];
    ["Offset of field: server_rec::server_admin"][::core::mem::offset_of!(server_rec, server_admin) - 88usize];
    ["Offset of field: server_rec::server_hostname"][::core::mem::offset_of!(server_rec, server_hostname) - 96usize];
    ["Offset of field: server_rec::addrs"][::core::mem::offset_of!(server_rec, addrs) - 104usize];
    ["Offset of field: server_rec::timeout"][::core::mem::offset_of!(server_rec, timeout) - 112usize];
    ["Offset of field: server_rec::keep_alive_timeout"]
        [::core::mem::offset_of!(server_rec, keep_alive_timeout) - 120usize];
    ["Offset of field: server_rec::keep_alive_max"][::core::mem::offset_of!(server_rec, keep_alive_max) - 128usize];
    ["Offset of field: server_rec::keep_alive"][::core::mem::offset_of!(server_rec, keep_alive) - 132usize];
    ["Offset of field: server_rec::names"][::core::mem::offset_of!(server_rec, names) - 136usize];
    ["Offset of field: server_rec::wild_names"][::core::mem::offset_of!(server_rec, wild_names) - 144usize];
    ["Offset of field: server_rec::path"][::core::mem::offset_of!(server_rec, path) - 152usize];
    ["Offset of field: server_rec::pathlen"][::core::mem::offset_of!(server_rec, pathlen) - 160usize];
    ["Offset of field: server_rec::limit_req_line"][::core::mem::offset_of!(server_rec, limit_req_line) - 164usize];
    ["Offset of field: server_rec::limit_req_fieldsize"]
        [::core::mem::offset_of!(server_rec, limit_req_fieldsize) - 168usize];
    ["Offset of field: server_rec::limit_req_fields"][::core::mem::offset_of!(server_rec, limit_req_fields) - 172usize];
    ["Offset of field: server_rec::context"][::core::mem::offset_of!(server_rec, context) - 176usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_directive_t"][::core::mem::size_of::<ap_directive_t>() - 72usize];
    ["Alignment of ap_directive_t"][::core::mem::align_of::<ap_directive_t>() - 8usize];
    ["Offset of field: ap_directive_t::directive"][::core::mem::offset_of!(ap_directive_t, directive) - 0usize];
    ["Offset of field: ap_directive_t::args"][::core::mem::offset_of!(ap_directive_t, args) - 8usize];
    ["Offset of field: ap_directive_t::next"][::core::mem::offset_of!(ap_directive_t, next) - 16usize];
    ["Offset of field: ap_directive_t::first_child"][::core::mem::offset_of!(ap_directive_t, first_child) - 24usize];
    ["Offset of field: ap_directive_t::parent"][::core::mem::offset_of!(ap_directive_t, parent) - 32usize];
    ["Offset of field: ap_directive_t::data"][::core::mem::offset_of!(ap_directive_t, data) - 40usize];
    ["Offset of field: ap_directive_t::filename"][::core::mem::offset_of!(ap_directive_t, filename) - 48usize];
    ["Offset of field: ap_directive_t::line_num"][::core::mem::offset_of!(ap_directive_t, line_num) - 56usize];
    ["Offset of field: ap_directive_t::last"][::core::mem::offset_of!(ap_directive_t, last) - 64usize];
};
pub const cmd_how_RAW_ARGS: cmd_how = 0;
pub const cmd_how_TAKE1: cmd_how = 1;
pub const cmd_how_TAKE2: cmd_how = 2;
pub const cmd_how_ITERATE: cmd_how = 3;
pub const cmd_how_ITERATE2: cmd_how = 4;
pub const cmd_how_FLAG: cmd_how = 5;
pub const cmd_how_NO_ARGS: cmd_how = 6;
pub const cmd_how_TAKE12: cmd_how = 7;
pub const cmd_how_TAKE3: cmd_how = 8;
pub const cmd_how_TAKE23: cmd_how = 9;
pub const cmd_how_TAKE123: cmd_how = 10;
pub const cmd_how_TAKE13: cmd_how = 11;
pub const cmd_how_TAKE_ARGV: cmd_how = 12;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of cmd_func"][::core::mem::size_of::<cmd_func>() - 8usize];
    ["Alignment of cmd_func"][::core::mem::align_of::<cmd_func>() - 8usize];
    ["Offset of field: cmd_func::no_args"][::core::mem::offset_of!(cmd_func, no_args) - 0usize];
    ["Offset of field: cmd_func::raw_args"][::core::mem::offset_of!(cmd_func, raw_args) - 0usize];
    ["Offset of field: cmd_func::take_argv"][::core::mem::offset_of!(cmd_func, take_argv) - 0usize];
    ["Offset of field: cmd_func::take1"][::core::mem::offset_of!(cmd_func, take1) - 0usize];
    ["Offset of field: cmd_func::take2"][::core::mem::offset_of!(cmd_func, take2) - 0usize];
    ["Offset of field: cmd_func::take3"][::core::mem::offset_of!(cmd_func, take3) - 0usize];
    ["Offset of field: cmd_func::flag"][::core::mem::offset_of!(cmd_func, flag) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of command_struct"][::core::mem::size_of::<command_struct>() - 40usize];
    ["Alignment of command_struct"][::core::mem::align_of::<command_struct>() - 8usize];
    ["Offset of field: command_struct::name"][::core::mem::offset_of!(command_struct, name) - 0usize];
    ["Offset of field: command_struct::func"][::core::mem::offset_of!(command_struct, func) - 8usize];
    ["Offset of field: command_struct::cmd_data"][::core::mem::offset_of!(command_struct, cmd_data) - 16usize];
    ["Offset of field: command_struct::req_override"][::core::mem::offset_of!(command_struct, req_override) - 24usize];
    ["Offset of field: command_struct::args_how"][::core::mem::offset_of!(command_struct, args_how) - 28usize];
    ["Offset of field: command_struct::errmsg"][::core::mem::offset_of!(command_struct, errmsg) - 32usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_configfile_t"][::core::mem::size_of::<ap_configfile_t>() - 48usize];
    ["Alignment of ap_configfile_t"][::core::mem::align_of::<ap_configfile_t>() - 8usize];
    ["Offset of field: ap_configfile_t::getch"][::core::mem::offset_of!(ap_configfile_t, getch) - 0usize];
    ["Offset of field: ap_configfile_t::getstr"][::core::mem::offset_of!(ap_configfile_t, getstr) - 8usize];
    ["Offset of field: ap_configfile_t::close"][::core::mem::offset_of!(ap_configfile_t, close) - 16usize];
    ["Offset of field: ap_configfile_t::param"][::core::mem::offset_of!(ap_configfile_t, param) - 24usize];
    ["Offset of field: ap_configfile_t::name"][::core::mem::offset_of!(ap_configfile_t, name) - 32usize];
    ["Offset of field: ap_configfile_t::line_number"][::core::mem::offset_of!(ap_configfile_t, line_number) - 40usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of cmd_parms_struct"][::core::mem::size_of::<cmd_parms_struct>() - 120usize];
    ["Alignment of cmd_parms_struct"][::core::mem::align_of::<cmd_parms_struct>() - 8usize];
    ["Offset of field: cmd_parms_struct::info"][::core::mem::offset_of!(cmd_parms_struct, info) - 0usize];
    ["Offset of field: cmd_parms_struct::override_"][::core::mem::offset_of!(cmd_parms_struct, override_) - 8usize];
    ["Offset of field: cmd_parms_struct::override_opts"]
        [::core::mem::offset_of!(cmd_parms_struct, override_opts) - 12usize];
    ["Offset of field: cmd_parms_struct::override_list"]
        [::core::mem::offset_of!(cmd_parms_struct, override_list) - 16usize];
    ["Offset of field: cmd_parms_struct::limited"][::core::mem::offset_of!(cmd_parms_struct, limited) - 24usize];
    ["Offset of field: cmd_parms_struct::limited_xmethods"]
        [::core::mem::offset_of!(cmd_parms_struct, limited_xmethods) - 32usize];
    ["Offset of field: cmd_parms_struct::xlimited"][::core::mem::offset_of!(cmd_parms_struct, xlimited) - 40usize];
    ["Offset of field: cmd_parms_struct::config_file"]
        [::core::mem::offset_of!(cmd_parms_struct, config_file) - 48usize];
    ["Offset of field: cmd_parms_struct::directive"][::core::mem::offset_of!(cmd_parms_struct, directive) - 56usize];
    ["Offset of field: cmd_parms_struct::pool"][::core::mem::offset_of!(cmd_parms_struct, pool) - 64usize];
    ["Offset of field: cmd_parms_struct::temp_pool"][::core::mem::offset_of!(cmd_parms_struct, temp_pool) - 72usize];
    ["Offset of field: cmd_parms_struct::server"][::core::mem::offset_of!(cmd_parms_struct, server) - 80usize];
    ["Offset of field: cmd_parms_struct::path"][::core::mem::offset_of!(cmd_parms_struct, path) - 88usize];
    ["Offset of field: cmd_parms_struct::cmd"][::core::mem::offset_of!(cmd_parms_struct, cmd) - 96usize];
    ["Offset of field: cmd_parms_struct::context"][::core::mem::offset_of!(cmd_parms_struct, context) - 104usize];
    ["Offset of field: cmd_parms_struct::err_directive"]
        [::core::mem::offset_of!(cmd_parms_struct, err_directive) - 112usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of module_struct"][::core::mem::size_of::<module_struct>() - 112usize];
    ["Alignment of module_struct"][::core::mem::align_of::<module_struct>() - 8usize];
    ["Offset of field: module_struct::version"][::core::mem::offset_of!(module_struct, version) - 0usize];
    ["Offset of field: module_struct::minor_version"][::core::mem::offset_of!(module_struct, minor_version) - 4usize];
    ["Offset of field: module_struct::module_index"][::core::mem::offset_of!(module_struct, module_index) - 8usize];
    ["Offset of field: module_struct::name"][::core::mem::offset_of!(module_struct, name) - 16usize];
    ["Offset of field: module_struct::dynamic_load_handle"]
        [::core::mem::offset_of!(module_struct, dynamic_load_handle) - 24usize];
    ["Offset of field: module_struct::next"][::core::mem::offset_of!(module_struct, next) - 32usize];
    ["Offset of field: module_struct::magic"][::core::mem::offset_of!(module_struct, magic) - 40usize];
    ["Offset of field: module_struct::rewrite_args"][::core::mem::offset_of!(module_struct, rewrite_args) - 48usize];
    ["Offset of field: module_struct::create_dir_config"]
        [::core::mem::offset_of!(module_struct, create_dir_config) - 56usize];
    ["Offset of field: module_struct::merge_dir_config"]
        [::core::mem::offset_of!(module_struct, merge_dir_config) - 64usize];
    ["Offset of field: module_struct::create_server_config"]
        [::core::mem::offset_of!(module_struct, create_server_config) - 72usize];
    ["Offset of field: module_struct::merge_server_config"]
        [::core::mem::offset_of!(module_struct, merge_server_config) - 80usize];
    ["Offset of field: module_struct::cmds"][::core::mem::offset_of!(module_struct, cmds) - 88usize];
    ["Offset of field: module_struct::register_hooks"]
        [::core::mem::offset_of!(module_struct, register_hooks) - 96usize];
    ["Offset of field: module_struct::flags"][::core::mem::offset_of!(module_struct, flags) - 104usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_LINK_pre_connection_t"][::core::mem::size_of::<ap_LINK_pre_connection_t>() - 40usize];
    ["Alignment of ap_LINK_pre_connection_t"][::core::mem::align_of::<ap_LINK_pre_connection_t>() - 8usize];
    ["Offset of field: ap_LINK_pre_connection_t::pFunc"]
        [::core::mem::offset_of!(ap_LINK_pre_connection_t, pFunc) - 0usize];
    ["Offset of field: ap_LINK_pre_connection_t::szName"]
        [::core::mem::offset_of!(ap_LINK_pre_connection_t, szName) - 8usize];
    ["Offset of field: ap_LINK_pre_connection_t::aszPredecessors"]
        [::core::mem::offset_of!(ap_LINK_pre_connection_t, aszPredecessors) - 16usize];
    ["Offset of field: ap_LINK_pre_connection_t::aszSuccessors"]
        [::core::mem::offset_of!(ap_LINK_pre_connection_t, aszSuccessors) - 24usize];
    ["Offset of field: ap_LINK_pre_connection_t::nOrder"]
        [::core::mem::offset_of!(ap_LINK_pre_connection_t, nOrder) - 32usize];
};
pub const ap_input_mode_t_AP_MODE_READBYTES: ap_input_mode_t = 0;
pub const ap_input_mode_t_AP_MODE_GETLINE: ap_input_mode_t = 1;
pub const ap_input_mode_t_AP_MODE_EATCRLF: ap_input_mode_t = 2;
pub const ap_input_mode_t_AP_MODE_SPECULATIVE: ap_input_mode_t = 3;
pub const ap_input_mode_t_AP_MODE_EXHAUSTIVE: ap_input_mode_t = 4;
pub const ap_input_mode_t_AP_MODE_INIT: ap_input_mode_t = 5;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_filter_func"][::core::mem::size_of::<ap_filter_func>() - 8usize];
    ["Alignment of ap_filter_func"][::core::mem::align_of::<ap_filter_func>() - 8usize];
    ["Offset of field: ap_filter_func::out_func"][::core::mem::offset_of!(ap_filter_func, out_func) - 0usize];
    ["Offset of field: ap_filter_func::in_func"][::core::mem::offset_of!(ap_filter_func, in_func) - 0usize];
};
pub const ap_filter_type_AP_FTYPE_RESOURCE: ap_filter_type = 10;
pub const ap_filter_type_AP_FTYPE_CONTENT_SET: ap_filter_type = 20;
pub const ap_filter_type_AP_FTYPE_PROTOCOL: ap_filter_type = 30;
pub const ap_filter_type_AP_FTYPE_TRANSCODE: ap_filter_type = 40;
pub const ap_filter_type_AP_FTYPE_CONNECTION: ap_filter_type = 50;
pub const ap_filter_type_AP_FTYPE_NETWORK: ap_filter_type = 60;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_filter_rec_t"][::core::mem::size_of::<ap_filter_rec_t>() - 56usize];
    ["Alignment of ap_filter_rec_t"][::core::mem::align_of::<ap_filter_rec_t>() - 8usize];
    ["Offset of field: ap_filter_rec_t::name"][::core::mem::offset_of!(ap_filter_rec_t, name) - 0usize];
    ["Offset of field: ap_filter_rec_t::filter_func"][::core::mem::offset_of!(ap_filter_rec_t, filter_func) - 8usize];
    ["Offset of field: ap_filter_rec_t::filter_init_func"]
        [::core::mem::offset_of!(ap_filter_rec_t, filter_init_func) - 16usize];
    ["Offset of field: ap_filter_rec_t::next"][::core::mem::offset_of!(ap_filter_rec_t, next) - 24usize];
    ["Offset of field: ap_filter_rec_t::providers"][::core::mem::offset_of!(ap_filter_rec_t, providers) - 32usize];
    ["Offset of field: ap_filter_rec_t::ftype"][::core::mem::offset_of!(ap_filter_rec_t, ftype) - 40usize];
    ["Offset of field: ap_filter_rec_t::debug"][::core::mem::offset_of!(ap_filter_rec_t, debug) - 44usize];
    ["Offset of field: ap_filter_rec_t::proto_flags"][::core::mem::offset_of!(ap_filter_rec_t, proto_flags) - 48usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_filter_t"][::core::mem::size_of::<ap_filter_t>() - 40usize];
    ["Alignment of ap_filter_t"][::core::mem::align_of::<ap_filter_t>() - 8usize];
    ["Offset of field: ap_filter_t::frec"][::core::mem::offset_of!(ap_filter_t, frec) - 0usize];
    ["Offset of field: ap_filter_t::ctx"][::core::mem::offset_of!(ap_filter_t, ctx) - 8usize];
    ["Offset of field: ap_filter_t::next"][::core::mem::offset_of!(ap_filter_t, next) - 16usize];
    ["Offset of field: ap_filter_t::r"][::core::mem::offset_of!(ap_filter_t, r) - 24usize];
    ["Offset of field: ap_filter_t::c"][::core::mem::offset_of!(ap_filter_t, c) - 32usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of core_server_config"][::core::mem::size_of::<core_server_config>() - 136usize];
    ["Alignment of core_server_config"][::core::mem::align_of::<core_server_config>() - 8usize];
    ["Offset of field: core_server_config::gprof_dir"][::core::mem::offset_of!(core_server_config, gprof_dir) - 0usize];
    ["Offset of field: core_server_config::ap_document_root"]
        [::core::mem::offset_of!(core_server_config, ap_document_root) - 8usize];
    ["Offset of field: core_server_config::access_name"]
        [::core::mem::offset_of!(core_server_config, access_name) - 16usize];
    ["Offset of field: core_server_config::sec_dir"][::core::mem::offset_of!(core_server_config, sec_dir) - 24usize];
    ["Offset of field: core_server_config::sec_url"][::core::mem::offset_of!(core_server_config, sec_url) - 32usize];
    ["Offset of field: core_server_config::redirect_limit"]
        [::core::mem::offset_of!(core_server_config, redirect_limit) - 40usize];
    ["Offset of field: core_server_config::subreq_limit"]
        [::core::mem::offset_of!(core_server_config, subreq_limit) - 44usize];
    ["Offset of field: core_server_config::protocol"][::core::mem::offset_of!(core_server_config, protocol) - 48usize];
    ["Offset of field: core_server_config::accf_map"][::core::mem::offset_of!(core_server_config, accf_map) - 56usize];
    ["Offset of field: core_server_config::error_log_format"]
        [::core::mem::offset_of!(core_server_config, error_log_format) - 64usize];
    ["Offset of field: core_server_config::error_log_conn"]
        [::core::mem::offset_of!(core_server_config, error_log_conn) - 72usize];
    ["Offset of field: core_server_config::error_log_req"]
        [::core::mem::offset_of!(core_server_config, error_log_req) - 80usize];
    ["Offset of field: core_server_config::trace_enable"]
        [::core::mem::offset_of!(core_server_config, trace_enable) - 88usize];
    ["Offset of field: core_server_config::merge_trailers"]
        [::core::mem::offset_of!(core_server_config, merge_trailers) - 92usize];
    ["Offset of field: core_server_config::protocols"]
        [::core::mem::offset_of!(core_server_config, protocols) - 96usize];
    ["Offset of field: core_server_config::protocols_honor_order"]
        [::core::mem::offset_of!(core_server_config, protocols_honor_order) - 104usize];
    ["Offset of field: core_server_config::http09_enable"]
        [::core::mem::offset_of!(core_server_config, http09_enable) - 108usize];
    ["Offset of field: core_server_config::http_conformance"]
        [::core::mem::offset_of!(core_server_config, http_conformance) - 109usize];
    ["Offset of field: core_server_config::http_methods"]
        [::core::mem::offset_of!(core_server_config, http_methods) - 110usize];
    ["Offset of field: core_server_config::merge_slashes"]
        [::core::mem::offset_of!(core_server_config, merge_slashes) - 112usize];
    ["Offset of field: core_server_config::flush_max_threshold"]
        [::core::mem::offset_of!(core_server_config, flush_max_threshold) - 120usize];
    ["Offset of field: core_server_config::flush_max_pipelined"]
        [::core::mem::offset_of!(core_server_config, flush_max_pipelined) - 128usize];
    ["Offset of field: core_server_config::strict_host_check"]
        [::core::mem::offset_of!(core_server_config, strict_host_check) - 132usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_errorlog_info"][::core::mem::size_of::<ap_errorlog_info>() - 80usize];
    ["Alignment of ap_errorlog_info"][::core::mem::align_of::<ap_errorlog_info>() - 8usize];
    ["Offset of field: ap_errorlog_info::s"][::core::mem::offset_of!(ap_errorlog_info, s) - 0usize];
    ["Offset of field: ap_errorlog_info::c"][::core::mem::offset_of!(ap_errorlog_info, c) - 8usize];
    ["Offset of field: ap_errorlog_info::r"][::core::mem::offset_of!(ap_errorlog_info, r) - 16usize];
    ["Offset of field: ap_errorlog_info::rmain"][::core::mem::offset_of!(ap_errorlog_info, rmain) - 24usize];
    ["Offset of field: ap_errorlog_info::pool"][::core::mem::offset_of!(ap_errorlog_info, pool) - 32usize];
    ["Offset of field: ap_errorlog_info::file"][::core::mem::offset_of!(ap_errorlog_info, file) - 40usize];
    ["Offset of field: ap_errorlog_info::line"][::core::mem::offset_of!(ap_errorlog_info, line) - 48usize];
    ["Offset of field: ap_errorlog_info::module_index"]
        [::core::mem::offset_of!(ap_errorlog_info, module_index) - 52usize];
    ["Offset of field: ap_errorlog_info::level"][::core::mem::offset_of!(ap_errorlog_info, level) - 56usize];
    ["Offset of field: ap_errorlog_info::status"][::core::mem::offset_of!(ap_errorlog_info, status) - 60usize];
    ["Offset of field: ap_errorlog_info::using_syslog"]
        [::core::mem::offset_of!(ap_errorlog_info, using_syslog) - 64usize];
    ["Offset of field: ap_errorlog_info::startup"][::core::mem::offset_of!(ap_errorlog_info, startup) - 68usize];
    ["Offset of field: ap_errorlog_info::format"][::core::mem::offset_of!(ap_errorlog_info, format) - 72usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ap_LINK_check_user_id_t"][::core::mem::size_of::<ap_LINK_check_user_id_t>() - 40usize];
    ["Alignment of ap_LINK_check_user_id_t"][::core::mem::align_of::<ap_LINK_check_user_id_t>() - 8usize];
    ["Offset of field: ap_LINK_check_user_id_t::pFunc"]
        [::core::mem::offset_of!(ap_LINK_check_user_id_t, pFunc) - 0usize];
    ["Offset of field: ap_LINK_check_user_id_t::szName"]
        [::core::mem::offset_of!(ap_LINK_check_user_id_t, szName) - 8usize];
    ["Offset of field: ap_LINK_check_user_id_t::aszPredecessors"]
        [::core::mem::offset_of!(ap_LINK_check_user_id_t, aszPredecessors) - 16usize];
    ["Offset of field: ap_LINK_check_user_id_t::aszSuccessors"]
        [::core::mem::offset_of!(ap_LINK_check_user_id_t, aszSuccessors) - 24usize];
    ["Offset of field: ap_LINK_check_user_id_t::nOrder"]
        [::core::mem::offset_of!(ap_LINK_check_user_id_t, nOrder) - 32usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of passwd"][::core::mem::size_of::<passwd>() - 48usize];
    ["Alignment of passwd"][::core::mem::align_of::<passwd>() - 8usize];
    ["Offset of field: passwd::pw_name"][::core::mem::offset_of!(passwd, pw_name) - 0usize];
    ["Offset of field: passwd::pw_passwd"][::core::mem::offset_of!(passwd, pw_passwd) - 8usize];
    ["Offset of field: passwd::pw_uid"][::core::mem::offset_of!(passwd, pw_uid) - 16usize];
    ["Offset of field: passwd::pw_gid"][::core::mem::offset_of!(passwd, pw_gid) - 20usize];
    ["Offset of field: passwd::pw_gecos"][::core::mem::offset_of!(passwd, pw_gecos) - 24usize];
    ["Offset of field: passwd::pw_dir"][::core::mem::offset_of!(passwd, pw_dir) - 32usize];
    ["Offset of field: passwd::pw_shell"][::core::mem::offset_of!(passwd, pw_shell) - 40usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of unixd_config_rec"][::core::mem::size_of::<unixd_config_rec>() - 48usize];
    ["Alignment of unixd_config_rec"][::core::mem::align_of::<unixd_config_rec>() - 8usize];
    ["Offset of field: unixd_config_rec::user_name"][::core::mem::offset_of!(unixd_config_rec, user_name) - 0usize];
    ["Offset of field: unixd_config_rec::group_name"][::core::mem::offset_of!(unixd_config_rec, group_name) - 8usize];
    ["Offset of field: unixd_config_rec::user_id"][::core::mem::offset_of!(unixd_config_rec, user_id) - 16usize];
    ["Offset of field: unixd_config_rec::group_id"][::core::mem::offset_of!(unixd_config_rec, group_id) - 20usize];
    ["Offset of field: unixd_config_rec::suexec_enabled"]
        [::core::mem::offset_of!(unixd_config_rec, suexec_enabled) - 24usize];
    ["Offset of field: unixd_config_rec::chroot_dir"][::core::mem::offset_of!(unixd_config_rec, chroot_dir) - 32usize];
    ["Offset of field: unixd_config_rec::suexec_disabled_reason"]
        [::core::mem::offset_of!(unixd_config_rec, suexec_disabled_reason) - 40usize];
};
#[repr(C)]
#[derive(Copy, Clone)]
pub union in6_addr__bindgen_ty_1 {
    pub __u6_addr8: [u8; 16usize],
    pub __u6_addr16: [u16; 8usize],
    pub __u6_addr32: [u32; 4usize],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union apr_sockaddr_t__bindgen_ty_1 {
    pub sin: sockaddr_in,
    pub sin6: sockaddr_in6,
    pub sas: sockaddr_storage,
    pub unx: sockaddr_un,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union cmd_func {
    pub no_args: ::core::option::Option<
        unsafe extern "C" fn(parms: *mut cmd_parms, mconfig: *mut ::core::ffi::c_void) -> *const ::core::ffi::c_char,
    >,
    pub raw_args: ::core::option::Option<
        unsafe extern "C" fn(
            parms: *mut cmd_parms,
            mconfig: *mut ::core::ffi::c_void,
            args: *const ::core::ffi::c_char,
        ) -> *const ::core::ffi::c_char,
    >,
    pub take_argv: ::core::option::Option<
        unsafe extern "C" fn(
            parms: *mut cmd_parms,
            mconfig: *mut ::core::ffi::c_void,
            argc: ::core::ffi::c_int,
            argv: *const *mut ::core::ffi::c_char,
        ) -> *const ::core::ffi::c_char,
    >,
    pub take1: ::core::option::Option<
        unsafe extern "C" fn(
            parms: *mut cmd_parms,
            mconfig: *mut ::core::ffi::c_void,
            w: *const ::core::ffi::c_char,
        ) -> *const ::core::ffi::c_char,
    >,
    pub take2: ::core::option::Option<
        unsafe extern "C" fn(
            parms: *mut cmd_parms,
            mconfig: *mut ::core::ffi::c_void,
            w: *const ::core::ffi::c_char,
            w2: *const ::core::ffi::c_char,
        ) -> *const ::core::ffi::c_char,
    >,
    pub take3: ::core::option::Option<
        unsafe extern "C" fn(
            parms: *mut cmd_parms,
            mconfig: *mut ::core::ffi::c_void,
            w: *const ::core::ffi::c_char,
            w2: *const ::core::ffi::c_char,
            w3: *const ::core::ffi::c_char,
        ) -> *const ::core::ffi::c_char,
    >,
    pub flag: ::core::option::Option<
        unsafe extern "C" fn(
            parms: *mut cmd_parms,
            mconfig: *mut ::core::ffi::c_void,
            on: ::core::ffi::c_int,
        ) -> *const ::core::ffi::c_char,
    >,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union ap_filter_func {
    pub out_func: ap_out_filter_func,
    pub in_func: ap_in_filter_func,
}
impl<Storage> __BindgenBitfieldUnit<Storage> {
    #[inline]
    pub const fn new(storage: Storage) -> Self {
        Self { storage }
    }
}
impl<Storage> __BindgenBitfieldUnit<Storage>
where
    Storage: AsRef<[u8]> + AsMut<[u8]>,
{
    #[inline]
    fn extract_bit(byte: u8, index: usize) -> bool {
        let bit_index = if cfg!(target_endian = "big") { 7 - (index % 8) } else { index % 8 };
        let mask = 1 << bit_index;
        byte & mask == mask
    }
    #[inline]
    pub fn get_bit(&self, index: usize) -> bool {
        debug_assert!(index / 8 < self.storage.as_ref().len());
        let byte_index = index / 8;
        let byte = self.storage.as_ref()[byte_index];
        Self::extract_bit(byte, index)
    }
    #[inline]
    pub unsafe fn raw_get_bit(this: *const Self, index: usize) -> bool {
        debug_assert!(index / 8 < core::mem::size_of::<Storage>());
        let byte_index = index / 8;
        let byte = unsafe { *(core::ptr::addr_of!((*this).storage) as *const u8).offset(byte_index as isize) };
        Self::extract_bit(byte, index)
    }
    #[inline]
    fn change_bit(byte: u8, index: usize, val: bool) -> u8 {
        let bit_index = if cfg!(target_endian = "big") { 7 - (index % 8) } else { index % 8 };
        let mask = 1 << bit_index;
        if val { byte | mask } else { byte & !mask }
    }
    #[inline]
    pub fn set_bit(&mut self, index: usize, val: bool) {
        debug_assert!(index / 8 < self.storage.as_ref().len());
        let byte_index = index / 8;
        let byte = &mut self.storage.as_mut()[byte_index];
        *byte = Self::change_bit(*byte, index, val);
    }
    #[inline]
    pub unsafe fn raw_set_bit(this: *mut Self, index: usize, val: bool) {
        debug_assert!(index / 8 < core::mem::size_of::<Storage>());
        let byte_index = index / 8;
        let byte = unsafe { (core::ptr::addr_of_mut!((*this).storage) as *mut u8).offset(byte_index as isize) };
        unsafe { *byte = Self::change_bit(*byte, index, val) };
    }
    #[inline]
    pub fn get(&self, bit_offset: usize, bit_width: u8) -> u64 {
        debug_assert!(bit_width <= 64);
        debug_assert!(bit_offset / 8 < self.storage.as_ref().len());
        debug_assert!((bit_offset + (bit_width as usize) + 7) / 8 <= self.storage.as_ref().len());
        if bit_width == 0 {
            return 0;
        }
        let mut val = 0u64;
        let storage = self.storage.as_ref();
        let start_byte = bit_offset / 8;
        let bit_shift = bit_offset % 8;
        let bytes_needed = (bit_width as usize + bit_shift + 7) / 8;
        if cfg!(target_endian = "big") {
            for i in 0..bytes_needed {
                val |= (storage[start_byte + i].reverse_bits() as u64) << (i * 8);
            }
        } else {
            for i in 0..bytes_needed {
                val |= (storage[start_byte + i] as u64) << (i * 8);
            }
        }
        val >>= bit_shift;
        if bit_width < 64 {
            val &= (1u64 << bit_width) - 1;
        }
        if cfg!(target_endian = "big") {
            val = val.reverse_bits() >> (64 - bit_width as usize);
        }
        val
    }
    #[inline]
    pub unsafe fn raw_get(this: *const Self, bit_offset: usize, bit_width: u8) -> u64 {
        debug_assert!(bit_width <= 64);
        debug_assert!(bit_offset / 8 < core::mem::size_of::<Storage>());
        debug_assert!((bit_offset + (bit_width as usize) + 7) / 8 <= core::mem::size_of::<Storage>());
        if bit_width == 0 {
            return 0;
        }
        let mut val = 0u64;
        let start_byte = bit_offset / 8;
        let bit_shift = bit_offset % 8;
        let bytes_needed = (bit_width as usize + bit_shift + 7) / 8;
        let storage_ptr = unsafe { core::ptr::addr_of!((*this).storage) as *const u8 };
        if cfg!(target_endian = "big") {
            for i in 0..bytes_needed {
                let byte = unsafe { *storage_ptr.add(start_byte + i) };
                val |= (byte.reverse_bits() as u64) << (i * 8);
            }
        } else {
            for i in 0..bytes_needed {
                let byte = unsafe { *storage_ptr.add(start_byte + i) };
                val |= (byte as u64) << (i * 8);
            }
        }
        val >>= bit_shift;
        if bit_width < 64 {
            val &= (1u64 << bit_width) - 1;
        }
        if cfg!(target_endian = "big") {
            val = val.reverse_bits() >> (64 - bit_width as usize);
        }
        val
    }
    #[inline]
    pub fn set(&mut self, bit_offset: usize, bit_width: u8, val: u64) {
        debug_assert!(bit_width <= 64);
        debug_assert!(bit_offset / 8 < self.storage.as_ref().len());
        debug_assert!((bit_offset + (bit_width as usize) + 7) / 8 <= self.storage.as_ref().len());
        if bit_width == 0 {
            return;
        }
        let mut val = val;
        if bit_width < 64 {
            val &= (1u64 << bit_width) - 1;
        }
        if cfg!(target_endian = "big") {
            val = val.reverse_bits() >> (64 - bit_width as usize);
        }
        let storage = self.storage.as_mut();
        let start_byte = bit_offset / 8;
        let bit_shift = bit_offset % 8;
        let bytes_needed = (bit_width as usize + bit_shift + 7) / 8;
        val <<= bit_shift;
        let field_mask = if bit_width as usize + bit_shift >= 64 {
            !0u64 << bit_shift
        } else {
            ((1u64 << bit_width) - 1) << bit_shift
        };
        for i in 0..bytes_needed {
            let byte_val = (val >> (i * 8)) as u8;
            let byte_mask = (field_mask >> (i * 8)) as u8;
            if cfg!(target_endian = "big") {
                let byte = storage[start_byte + i].reverse_bits();
                let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                storage[start_byte + i] = new_byte.reverse_bits();
            } else {
                storage[start_byte + i] = (storage[start_byte + i] & !byte_mask) | (byte_val & byte_mask);
            }
        }
    }
    #[inline]
    pub unsafe fn raw_set(this: *mut Self, bit_offset: usize, bit_width: u8, val: u64) {
        debug_assert!(bit_width <= 64);
        debug_assert!(bit_offset / 8 < core::mem::size_of::<Storage>());
        debug_assert!((bit_offset + (bit_width as usize) + 7) / 8 <= core::mem::size_of::<Storage>());
        if bit_width == 0 {
            return;
        }
        let mut val = val;
        if bit_width < 64 {
            val &= (1u64 << bit_width) - 1;
        }
        if cfg!(target_endian = "big") {
            val = val.reverse_bits() >> (64 - bit_width as usize);
        }
        let start_byte = bit_offset / 8;
        let bit_shift = bit_offset % 8;
        let bytes_needed = (bit_width as usize + bit_shift + 7) / 8;
        val <<= bit_shift;
        let field_mask = if bit_width as usize + bit_shift >= 64 {
            !0u64 << bit_shift
        } else {
            ((1u64 << bit_width) - 1) << bit_shift
        };
        let storage_ptr = unsafe { core::ptr::addr_of_mut!((*this).storage) as *mut u8 };
        for i in 0..bytes_needed {
            let byte_val = (val >> (i * 8)) as u8;
            let byte_mask = (field_mask >> (i * 8)) as u8;
            let byte_ptr = unsafe { storage_ptr.add(start_byte + i) };
            if cfg!(target_endian = "big") {
                let byte = unsafe { (*byte_ptr).reverse_bits() };
                let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                unsafe { *byte_ptr = new_byte.reverse_bits() };
            } else {
                unsafe { *byte_ptr = (*byte_ptr & !byte_mask) | (byte_val & byte_mask) };
            }
        }
    }
}
#[doc = " Const-generic methods for efficient bitfield access when offset and width"]
#[doc = " are known at compile time."]
impl<const N: usize> __BindgenBitfieldUnit<[u8; N]> {
    #[doc = " Get a field using const generics for compile-time optimization."]
    #[doc = " Uses native word size operations when the field fits in usize."]
    #[inline]
    pub const fn get_const<const BIT_OFFSET: usize, const BIT_WIDTH: u8>(&self) -> u64 {
        debug_assert!(BIT_WIDTH <= 64);
        debug_assert!(BIT_OFFSET / 8 < N);
        debug_assert!((BIT_OFFSET + (BIT_WIDTH as usize) + 7) / 8 <= N);
        if BIT_WIDTH == 0 {
            return 0;
        }
        let start_byte = BIT_OFFSET / 8;
        let bit_shift = BIT_OFFSET % 8;
        let bytes_needed = (BIT_WIDTH as usize + bit_shift + 7) / 8;
        if BIT_WIDTH as usize + bit_shift <= usize::BITS as usize {
            let mut val = 0usize;
            if cfg!(target_endian = "big") {
                let mut i = 0;
                while i < bytes_needed {
                    val |= (self.storage[start_byte + i].reverse_bits() as usize) << (i * 8);
                    i += 1;
                }
            } else {
                let mut i = 0;
                while i < bytes_needed {
                    val |= (self.storage[start_byte + i] as usize) << (i * 8);
                    i += 1;
                }
            }
            val >>= bit_shift;
            if (BIT_WIDTH as u32) < usize::BITS {
                val &= (1usize << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (usize::BITS as usize - BIT_WIDTH as usize);
            }
            val as u64
        } else {
            let mut val = 0u64;
            if cfg!(target_endian = "big") {
                let mut i = 0;
                while i < bytes_needed {
                    val |= (self.storage[start_byte + i].reverse_bits() as u64) << (i * 8);
                    i += 1;
                }
            } else {
                let mut i = 0;
                while i < bytes_needed {
                    val |= (self.storage[start_byte + i] as u64) << (i * 8);
                    i += 1;
                }
            }
            val >>= bit_shift;
            if BIT_WIDTH < 64 {
                val &= (1u64 << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (64 - BIT_WIDTH as usize);
            }
            val
        }
    }
    #[doc = " Set a field using const generics for compile-time optimization."]
    #[doc = " Uses native word size operations when the field fits in usize."]
    #[inline]
    pub fn set_const<const BIT_OFFSET: usize, const BIT_WIDTH: u8>(&mut self, val: u64) {
        debug_assert!(BIT_WIDTH <= 64);
        debug_assert!(BIT_OFFSET / 8 < N);
        debug_assert!((BIT_OFFSET + (BIT_WIDTH as usize) + 7) / 8 <= N);
        if BIT_WIDTH == 0 {
            return;
        }
        let start_byte = BIT_OFFSET / 8;
        let bit_shift = BIT_OFFSET % 8;
        let bytes_needed = (BIT_WIDTH as usize + bit_shift + 7) / 8;
        if BIT_WIDTH as usize + bit_shift <= usize::BITS as usize {
            let mut val = val as usize;
            if (BIT_WIDTH as u32) < usize::BITS {
                val &= (1usize << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (usize::BITS as usize - BIT_WIDTH as usize);
            }
            val <<= bit_shift;
            let field_mask = if BIT_WIDTH as usize + bit_shift >= usize::BITS as usize {
                !0usize << bit_shift
            } else {
                ((1usize << BIT_WIDTH) - 1) << bit_shift
            };
            let mut i = 0;
            while i < bytes_needed {
                let byte_val = (val >> (i * 8)) as u8;
                let byte_mask = (field_mask >> (i * 8)) as u8;
                if cfg!(target_endian = "big") {
                    let byte = self.storage[start_byte + i].reverse_bits();
                    let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                    self.storage[start_byte + i] = new_byte.reverse_bits();
                } else {
                    self.storage[start_byte + i] = (self.storage[start_byte + i] & !byte_mask) | (byte_val & byte_mask);
                }
                i += 1;
            }
        } else {
            let mut val = val;
            if BIT_WIDTH < 64 {
                val &= (1u64 << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (64 - BIT_WIDTH as usize);
            }
            val <<= bit_shift;
            let field_mask = if BIT_WIDTH as usize + bit_shift >= 64 {
                !0u64 << bit_shift
            } else {
                ((1u64 << BIT_WIDTH) - 1) << bit_shift
            };
            let mut i = 0;
            while i < bytes_needed {
                let byte_val = (val >> (i * 8)) as u8;
                let byte_mask = (field_mask >> (i * 8)) as u8;
                if cfg!(target_endian = "big") {
                    let byte = self.storage[start_byte + i].reverse_bits();
                    let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                    self.storage[start_byte + i] = new_byte.reverse_bits();
                } else {
                    self.storage[start_byte + i] = (self.storage[start_byte + i] & !byte_mask) | (byte_val & byte_mask);
                }
                i += 1;
            }
        }
    }
    #[doc = " Raw pointer get using const generics for compile-time optimization."]
    #[doc = " Uses native word size operations when the field fits in usize."]
    #[inline]
    pub const unsafe fn raw_get_const<const BIT_OFFSET: usize, const BIT_WIDTH: u8>(this: *const Self) -> u64 {
        debug_assert!(BIT_WIDTH <= 64);
        debug_assert!(BIT_OFFSET / 8 < N);
        debug_assert!((BIT_OFFSET + (BIT_WIDTH as usize) + 7) / 8 <= N);
        if BIT_WIDTH == 0 {
            return 0;
        }
        let start_byte = BIT_OFFSET / 8;
        let bit_shift = BIT_OFFSET % 8;
        let bytes_needed = (BIT_WIDTH as usize + bit_shift + 7) / 8;
        let storage_ptr = unsafe { core::ptr::addr_of!((*this).storage) as *const u8 };
        if BIT_WIDTH as usize + bit_shift <= usize::BITS as usize {
            let mut val = 0usize;
            if cfg!(target_endian = "big") {
                let mut i = 0;
                while i < bytes_needed {
                    let byte = unsafe { *storage_ptr.add(start_byte + i) };
                    val |= (byte.reverse_bits() as usize) << (i * 8);
                    i += 1;
                }
            } else {
                let mut i = 0;
                while i < bytes_needed {
                    let byte = unsafe { *storage_ptr.add(start_byte + i) };
                    val |= (byte as usize) << (i * 8);
                    i += 1;
                }
            }
            val >>= bit_shift;
            if (BIT_WIDTH as u32) < usize::BITS {
                val &= (1usize << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (usize::BITS as usize - BIT_WIDTH as usize);
            }
            val as u64
        } else {
            let mut val = 0u64;
            if cfg!(target_endian = "big") {
                let mut i = 0;
                while i < bytes_needed {
                    let byte = unsafe { *storage_ptr.add(start_byte + i) };
                    val |= (byte.reverse_bits() as u64) << (i * 8);
                    i += 1;
                }
            } else {
                let mut i = 0;
                while i < bytes_needed {
                    let byte = unsafe { *storage_ptr.add(start_byte + i) };
                    val |= (byte as u64) << (i * 8);
                    i += 1;
                }
            }
            val >>= bit_shift;
            if BIT_WIDTH < 64 {
                val &= (1u64 << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (64 - BIT_WIDTH as usize);
            }
            val
        }
    }
    #[doc = " Raw pointer set using const generics for compile-time optimization."]
    #[doc = " Uses native word size operations when the field fits in usize."]
    #[inline]
    pub unsafe fn raw_set_const<const BIT_OFFSET: usize, const BIT_WIDTH: u8>(this: *mut Self, val: u64) {
        debug_assert!(BIT_WIDTH <= 64);
        debug_assert!(BIT_OFFSET / 8 < N);
        debug_assert!((BIT_OFFSET + (BIT_WIDTH as usize) + 7) / 8 <= N);
        if BIT_WIDTH == 0 {
            return;
        }
        let start_byte = BIT_OFFSET / 8;
        let bit_shift = BIT_OFFSET % 8;
        let bytes_needed = (BIT_WIDTH as usize + bit_shift + 7) / 8;
        let storage_ptr = this.cast::<[u8; N]>().cast::<u8>();
        if BIT_WIDTH as usize + bit_shift <= usize::BITS as usize {
            let mut val = val as usize;
            if (BIT_WIDTH as u32) < usize::BITS {
                val &= (1usize << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (usize::BITS as usize - BIT_WIDTH as usize);
            }
            val <<= bit_shift;
            let field_mask = if BIT_WIDTH as usize + bit_shift >= usize::BITS as usize {
                !0usize << bit_shift
            } else {
                ((1usize << BIT_WIDTH) - 1) << bit_shift
            };
            let mut i = 0;
            while i < bytes_needed {
                let byte_val = (val >> (i * 8)) as u8;
                let byte_mask = (field_mask >> (i * 8)) as u8;
                let byte_ptr = unsafe { storage_ptr.add(start_byte + i) };
                if cfg!(target_endian = "big") {
                    let byte = unsafe { (*byte_ptr).reverse_bits() };
                    let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                    unsafe { *byte_ptr = new_byte.reverse_bits() };
                } else {
                    unsafe { *byte_ptr = (*byte_ptr & !byte_mask) | (byte_val & byte_mask) };
                }
                i += 1;
            }
        } else {
            let mut val = val;
            if BIT_WIDTH < 64 {
                val &= (1u64 << BIT_WIDTH) - 1;
            }
            if cfg!(target_endian = "big") {
                val = val.reverse_bits() >> (64 - BIT_WIDTH as usize);
            }
            val <<= bit_shift;
            let field_mask = if BIT_WIDTH as usize + bit_shift >= 64 {
                !0u64 << bit_shift
            } else {
                ((1u64 << BIT_WIDTH) - 1) << bit_shift
            };
            let mut i = 0;
            while i < bytes_needed {
                let byte_val = (val >> (i * 8)) as u8;
                let byte_mask = (field_mask >> (i * 8)) as u8;
                let byte_ptr = unsafe { storage_ptr.add(start_byte + i) };
                if cfg!(target_endian = "big") {
                    let byte = unsafe { (*byte_ptr).reverse_bits() };
                    let new_byte = (byte & !byte_mask) | (byte_val & byte_mask);
                    unsafe { *byte_ptr = new_byte.reverse_bits() };
                } else {
                    unsafe { *byte_ptr = (*byte_ptr & !byte_mask) | (byte_val & byte_mask) };
                }
                i += 1;
            }
        }
    }
}
impl<T: Copy + Default, const N: usize> Default for __BindgenOpaqueArray8<[T; N]> {
    fn default() -> Self {
        Self([<T as Default>::default(); N])
    }
}
impl apr_uri_t {
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn is_initialized(&self) -> ::core::ffi::c_uint {
        unsafe { ::core::mem::transmute(self._bitfield_1.get_const::<0usize, 1u8>() as u32) }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_is_initialized(&mut self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            self._bitfield_1.set_const::<0usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn is_initialized_raw(this: *const Self) -> ::core::ffi::c_uint {
        unsafe {
            ::core::mem::transmute(<__BindgenBitfieldUnit<[u8; 1usize]>>::raw_get_const::<0usize, 1u8>(
                ::core::ptr::addr_of!((*this)._bitfield_1),
            ) as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_is_initialized_raw(this: *mut Self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            <__BindgenBitfieldUnit<[u8; 1usize]>>::raw_set_const::<0usize, 1u8>(
                ::core::ptr::addr_of_mut!((*this)._bitfield_1),
                val as u64,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn dns_looked_up(&self) -> ::core::ffi::c_uint {
        unsafe { ::core::mem::transmute(self._bitfield_1.get_const::<1usize, 1u8>() as u32) }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_dns_looked_up(&mut self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            self._bitfield_1.set_const::<1usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn dns_looked_up_raw(this: *const Self) -> ::core::ffi::c_uint {
        unsafe {
            ::core::mem::transmute(<__BindgenBitfieldUnit<[u8; 1usize]>>::raw_get_const::<1usize, 1u8>(
                ::core::ptr::addr_of!((*this)._bitfield_1),
            ) as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_dns_looked_up_raw(this: *mut Self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            <__BindgenBitfieldUnit<[u8; 1usize]>>::raw_set_const::<1usize, 1u8>(
                ::core::ptr::addr_of_mut!((*this)._bitfield_1),
                val as u64,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn dns_resolved(&self) -> ::core::ffi::c_uint {
        unsafe { ::core::mem::transmute(self._bitfield_1.get_const::<2usize, 1u8>() as u32) }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_dns_resolved(&mut self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            self._bitfield_1.set_const::<2usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn dns_resolved_raw(this: *const Self) -> ::core::ffi::c_uint {
        unsafe {
            ::core::mem::transmute(<__BindgenBitfieldUnit<[u8; 1usize]>>::raw_get_const::<2usize, 1u8>(
                ::core::ptr::addr_of!((*this)._bitfield_1),
            ) as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_dns_resolved_raw(this: *mut Self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            <__BindgenBitfieldUnit<[u8; 1usize]>>::raw_set_const::<2usize, 1u8>(
                ::core::ptr::addr_of_mut!((*this)._bitfield_1),
                val as u64,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn new_bitfield_1(
        is_initialized: ::core::ffi::c_uint,
        dns_looked_up: ::core::ffi::c_uint,
        dns_resolved: ::core::ffi::c_uint,
    ) -> __BindgenBitfieldUnit<[u8; 1usize]> {
        let mut __bindgen_bitfield_unit: __BindgenBitfieldUnit<[u8; 1usize]> = Default::default();
        __bindgen_bitfield_unit.set_const::<0usize, 1u8>({
            let is_initialized: u32 = unsafe { ::core::mem::transmute(is_initialized) };
            is_initialized as u64
        });
        __bindgen_bitfield_unit.set_const::<1usize, 1u8>({
            let dns_looked_up: u32 = unsafe { ::core::mem::transmute(dns_looked_up) };
            dns_looked_up as u64
        });
        __bindgen_bitfield_unit.set_const::<2usize, 1u8>({
            let dns_resolved: u32 = unsafe { ::core::mem::transmute(dns_resolved) };
            dns_resolved as u64
        });
        __bindgen_bitfield_unit
    }
}
impl conn_rec {
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn clogging_input_filters(&self) -> ::core::ffi::c_uint {
        unsafe { ::core::mem::transmute(self._bitfield_1.get_const::<0usize, 1u8>() as u32) }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_clogging_input_filters(&mut self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            self._bitfield_1.set_const::<0usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn clogging_input_filters_raw(this: *const Self) -> ::core::ffi::c_uint {
        unsafe {
            ::core::mem::transmute(<__BindgenBitfieldUnit<[u8; 1usize]>>::raw_get_const::<0usize, 1u8>(
                ::core::ptr::addr_of!((*this)._bitfield_1),
            ) as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_clogging_input_filters_raw(this: *mut Self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            <__BindgenBitfieldUnit<[u8; 1usize]>>::raw_set_const::<0usize, 1u8>(
                ::core::ptr::addr_of_mut!((*this)._bitfield_1),
                val as u64,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn double_reverse(&self) -> ::core::ffi::c_int {
        unsafe { ::core::mem::transmute(self._bitfield_1.get_const::<1usize, 2u8>() as u32) }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_double_reverse(&mut self, val: ::core::ffi::c_int) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            self._bitfield_1.set_const::<1usize, 2u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn double_reverse_raw(this: *const Self) -> ::core::ffi::c_int {
        unsafe {
            ::core::mem::transmute(<__BindgenBitfieldUnit<[u8; 1usize]>>::raw_get_const::<1usize, 2u8>(
                ::core::ptr::addr_of!((*this)._bitfield_1),
            ) as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_double_reverse_raw(this: *mut Self, val: ::core::ffi::c_int) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            <__BindgenBitfieldUnit<[u8; 1usize]>>::raw_set_const::<1usize, 2u8>(
                ::core::ptr::addr_of_mut!((*this)._bitfield_1),
                val as u64,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn new_bitfield_1(
        clogging_input_filters: ::core::ffi::c_uint,
        double_reverse: ::core::ffi::c_int,
    ) -> __BindgenBitfieldUnit<[u8; 1usize]> {
        let mut __bindgen_bitfield_unit: __BindgenBitfieldUnit<[u8; 1usize]> = Default::default();
        __bindgen_bitfield_unit.set_const::<0usize, 1u8>({
            let clogging_input_filters: u32 = unsafe { ::core::mem::transmute(clogging_input_filters) };
            clogging_input_filters as u64
        });
        __bindgen_bitfield_unit.set_const::<1usize, 2u8>({
            let double_reverse: u32 = unsafe { ::core::mem::transmute(double_reverse) };
            double_reverse as u64
        });
        __bindgen_bitfield_unit
    }
}
impl server_rec {
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn keep_alive_timeout_set(&self) -> ::core::ffi::c_uint {
        unsafe { ::core::mem::transmute(self._bitfield_1.get_const::<0usize, 1u8>() as u32) }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn set_keep_alive_timeout_set(&mut self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            self._bitfield_1.set_const::<0usize, 1u8>(val as u64)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn keep_alive_timeout_set_raw(this: *const Self) -> ::core::ffi::c_uint {
        unsafe {
            ::core::mem::transmute(<__BindgenBitfieldUnit<[u8; 1usize]>>::raw_get_const::<0usize, 1u8>(
                ::core::ptr::addr_of!((*this)._bitfield_1),
            ) as u32)
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub unsafe fn set_keep_alive_timeout_set_raw(this: *mut Self, val: ::core::ffi::c_uint) {
        unsafe {
            let val: u32 = ::core::mem::transmute(val);
            <__BindgenBitfieldUnit<[u8; 1usize]>>::raw_set_const::<0usize, 1u8>(
                ::core::ptr::addr_of_mut!((*this)._bitfield_1),
                val as u64,
            )
        }
    }
    #[inline]
    #[allow(unnecessary_transmutes)]
    pub fn new_bitfield_1(keep_alive_timeout_set: ::core::ffi::c_uint) -> __BindgenBitfieldUnit<[u8; 1usize]> {
        let mut __bindgen_bitfield_unit: __BindgenBitfieldUnit<[u8; 1usize]> = Default::default();
        __bindgen_bitfield_unit.set_const::<0usize, 1u8>({
            let keep_alive_timeout_set: u32 = unsafe { ::core::mem::transmute(keep_alive_timeout_set) };
            keep_alive_timeout_set as u64
        });
        __bindgen_bitfield_unit
    }
}
unsafe extern "C" {
    pub fn apr_allocator_create(allocator: *mut *mut apr_allocator_t) -> apr_status_t;
    pub fn apr_allocator_destroy(allocator: *mut apr_allocator_t);
    pub fn apr_allocator_owner_set(allocator: *mut apr_allocator_t, pool: *mut apr_pool_t);
    pub fn apr_allocator_max_free_set(allocator: *mut apr_allocator_t, size: apr_size_t);
    pub fn apr_pool_create_ex(
        newpool: *mut *mut apr_pool_t,
        parent: *mut apr_pool_t,
        abort_fn: apr_abortfunc_t,
        allocator: *mut apr_allocator_t,
    ) -> apr_status_t;
    pub fn apr_pool_destroy(p: *mut apr_pool_t);
    pub fn apr_palloc(p: *mut apr_pool_t, size: apr_size_t) -> *mut ::core::ffi::c_void;
    pub fn apr_pool_tag(pool: *mut apr_pool_t, tag: *const ::core::ffi::c_char);
    pub fn apr_pool_cleanup_register(
        p: *mut apr_pool_t,
        data: *const ::core::ffi::c_void,
        plain_cleanup: ::core::option::Option<unsafe extern "C" fn(arg1: *mut ::core::ffi::c_void) -> apr_status_t>,
        child_cleanup: ::core::option::Option<unsafe extern "C" fn(arg1: *mut ::core::ffi::c_void) -> apr_status_t>,
    );
    pub fn apr_pool_pre_cleanup_register(
        p: *mut apr_pool_t,
        data: *const ::core::ffi::c_void,
        plain_cleanup: ::core::option::Option<unsafe extern "C" fn(arg1: *mut ::core::ffi::c_void) -> apr_status_t>,
    );
    pub fn apr_pool_cleanup_null(data: *mut ::core::ffi::c_void) -> apr_status_t;
    pub fn apr_table_elts(t: *const apr_table_t) -> *const apr_array_header_t;
    pub fn apr_table_make(p: *mut apr_pool_t, nelts: ::core::ffi::c_int) -> *mut apr_table_t;
    pub fn apr_table_copy(p: *mut apr_pool_t, t: *const apr_table_t) -> *mut apr_table_t;
    pub fn apr_table_get(t: *const apr_table_t, key: *const ::core::ffi::c_char) -> *const ::core::ffi::c_char;
    pub fn apr_table_set(t: *mut apr_table_t, key: *const ::core::ffi::c_char, val: *const ::core::ffi::c_char);
    pub fn apr_table_unset(t: *mut apr_table_t, key: *const ::core::ffi::c_char);
    pub fn apr_table_add(t: *mut apr_table_t, key: *const ::core::ffi::c_char, val: *const ::core::ffi::c_char);
    pub fn apr_uid_homepath_get(
        dirname: *mut *mut ::core::ffi::c_char,
        username: *const ::core::ffi::c_char,
        p: *mut apr_pool_t,
    ) -> apr_status_t;
    pub fn apr_file_open(
        newf: *mut *mut apr_file_t,
        fname: *const ::core::ffi::c_char,
        flag: apr_int32_t,
        perm: apr_fileperms_t,
        pool: *mut apr_pool_t,
    ) -> apr_status_t;
    pub fn apr_file_name_get(new_path: *mut *const ::core::ffi::c_char, thefile: *mut apr_file_t) -> apr_status_t;
    pub fn apr_socket_create(
        new_sock: *mut *mut apr_socket_t,
        family: ::core::ffi::c_int,
        type_: ::core::ffi::c_int,
        protocol: ::core::ffi::c_int,
        cont: *mut apr_pool_t,
    ) -> apr_status_t;
    pub fn apr_sockaddr_info_get(
        sa: *mut *mut apr_sockaddr_t,
        hostname: *const ::core::ffi::c_char,
        family: apr_int32_t,
        port: apr_port_t,
        flags: apr_int32_t,
        p: *mut apr_pool_t,
    ) -> apr_status_t;
    pub fn apr_brigade_create(p: *mut apr_pool_t, list: *mut apr_bucket_alloc_t) -> *mut apr_bucket_brigade;
    pub fn apr_brigade_cleanup(data: *mut ::core::ffi::c_void) -> apr_status_t;
    pub fn apr_bucket_alloc_create(p: *mut apr_pool_t) -> *mut apr_bucket_alloc_t;
    pub static apr_bucket_type_file: apr_bucket_type_t;
    pub fn apr_bucket_eos_create(list: *mut apr_bucket_alloc_t) -> *mut apr_bucket;
    pub fn apr_bucket_transient_create(
        buf: *const ::core::ffi::c_char,
        nbyte: apr_size_t,
        list: *mut apr_bucket_alloc_t,
    ) -> *mut apr_bucket;
    pub fn apr_setup_signal_thread() -> apr_status_t;
    pub fn ap_getword_conf(p: *mut apr_pool_t, line: *mut *const ::core::ffi::c_char) -> *mut ::core::ffi::c_char;
    pub fn ap_strcmp_match(
        str_: *const ::core::ffi::c_char,
        expected: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    pub fn ap_get_module_config(cv: *const ap_conf_vector_t, m: *const module) -> *mut ::core::ffi::c_void;
    pub fn ap_set_module_config(cv: *mut ap_conf_vector_t, m: *const module, val: *mut ::core::ffi::c_void);
    pub fn ap_get_server_module_loglevel(s: *const server_rec, index: ::core::ffi::c_int) -> ::core::ffi::c_int;
    pub fn ap_get_request_module_loglevel(r: *const request_rec, index: ::core::ffi::c_int) -> ::core::ffi::c_int;
    pub fn ap_server_root_relative(p: *mut apr_pool_t, fname: *const ::core::ffi::c_char) -> *mut ::core::ffi::c_char;
    pub fn ap_add_module(
        m: *mut module,
        p: *mut apr_pool_t,
        s: *const ::core::ffi::c_char,
    ) -> *const ::core::ffi::c_char;
    pub fn ap_find_linked_module(name: *const ::core::ffi::c_char) -> *mut module;
    pub static mut ap_top_module: *mut module;
    pub fn ap_create_conn_config(p: *mut apr_pool_t) -> *mut ap_conf_vector_t;
    pub fn ap_invoke_handler(r: *mut request_rec) -> ::core::ffi::c_int;
    pub fn ap_hook_pre_config(
        pf: ap_HOOK_pre_config_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_hook_check_config(
        pf: ap_HOOK_check_config_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_hook_test_config(
        pf: ap_HOOK_test_config_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_hook_post_config(
        pf: ap_HOOK_post_config_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_hook_child_init(
        pf: ap_HOOK_child_init_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_hook_handler(
        pf: ap_HOOK_handler_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_hook_get_pre_connection() -> *mut apr_array_header_t;
    pub fn apr_dynamic_fn_retrieve(szName: *const ::core::ffi::c_char) -> apr_opt_fn_t;
    pub fn ap_pass_brigade(filter: *mut ap_filter_t, bucket: *mut apr_bucket_brigade) -> apr_status_t;
    pub fn ap_register_output_filter(
        name: *const ::core::ffi::c_char,
        filter_func: ap_out_filter_func,
        filter_init: ap_init_filter_func,
        ftype: ap_filter_type,
    ) -> *mut ap_filter_rec_t;
    pub fn ap_add_output_filter_handle(
        f: *mut ap_filter_rec_t,
        ctx: *mut ::core::ffi::c_void,
        r: *mut request_rec,
        c: *mut conn_rec,
    ) -> *mut ap_filter_t;
    pub fn ap_remove_output_filter(f: *mut ap_filter_t);
    pub fn ap_allow_options(r: *mut request_rec) -> ::core::ffi::c_int;
    pub fn ap_exists_config_define(name: *const ::core::ffi::c_char) -> ::core::ffi::c_int;
    pub fn ap_auth_name(r: *mut request_rec) -> *const ::core::ffi::c_char;
    pub fn ap_hook_error_log(
        pf: ap_HOOK_error_log_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_state_query(query_code: ::core::ffi::c_int) -> ::core::ffi::c_int;
    pub fn ap_log_error_(
        file: *const ::core::ffi::c_char,
        line: ::core::ffi::c_int,
        module_index: ::core::ffi::c_int,
        level: ::core::ffi::c_int,
        status: apr_status_t,
        s: *const server_rec,
        fmt: *const ::core::ffi::c_char,
        ...
    );
    pub fn ap_log_rerror_(
        file: *const ::core::ffi::c_char,
        line: ::core::ffi::c_int,
        module_index: ::core::ffi::c_int,
        level: ::core::ffi::c_int,
        status: apr_status_t,
        r: *const request_rec,
        fmt: *const ::core::ffi::c_char,
        ...
    );
    pub static mut ap_server_conf: *mut server_rec;
    pub fn apr_os_file_get(thefile: *mut apr_os_file_t, file: *mut apr_file_t) -> apr_status_t;
    pub fn apr_os_sock_get(thesock: *mut apr_os_sock_t, sock: *mut apr_socket_t) -> apr_status_t;
    pub fn ap_hook_insert_error_filter(
        pf: ap_HOOK_insert_error_filter_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_create_request(c: *mut conn_rec) -> *mut request_rec;
    pub fn ap_set_content_type(r: *mut request_rec, ct: *const ::core::ffi::c_char);
    pub fn ap_setup_client_block(r: *mut request_rec, read_policy: ::core::ffi::c_int) -> ::core::ffi::c_int;
    pub fn ap_should_client_block(r: *mut request_rec) -> ::core::ffi::c_int;
    pub fn ap_get_client_block(
        r: *mut request_rec,
        buffer: *mut ::core::ffi::c_char,
        bufsiz: apr_size_t,
    ) -> ::core::ffi::c_long;
    pub fn ap_parse_uri(r: *mut request_rec, uri: *const ::core::ffi::c_char);
    pub fn ap_hook_post_read_request(
        pf: ap_HOOK_post_read_request_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_run_post_read_request(r: *mut request_rec) -> ::core::ffi::c_int;
    pub fn ap_hook_log_transaction(
        pf: ap_HOOK_log_transaction_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_run_http_scheme(r: *const request_rec) -> *const ::core::ffi::c_char;
    pub fn ap_run_default_port(r: *const request_rec) -> apr_port_t;
    pub fn ap_bucket_error_create(
        error: ::core::ffi::c_int,
        buf: *const ::core::ffi::c_char,
        p: *mut apr_pool_t,
        list: *mut apr_bucket_alloc_t,
    ) -> *mut apr_bucket;
    pub fn ap_process_request_internal(r: *mut request_rec) -> ::core::ffi::c_int;
    pub fn ap_hook_translate_name(
        pf: ap_HOOK_translate_name_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_hook_map_to_storage(
        pf: ap_HOOK_map_to_storage_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_hook_get_check_user_id() -> *mut apr_array_header_t;
    pub fn ap_run_type_checker(r: *mut request_rec) -> ::core::ffi::c_int;
    pub fn ap_hook_check_authn(
        pf: ap_HOOK_check_user_id_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
        type_: ::core::ffi::c_int,
    );
    pub fn ap_hook_check_authz(
        pf: ap_HOOK_auth_checker_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
        type_: ::core::ffi::c_int,
    );
    pub fn ap_hook_post_perdir_config(
        pf: ap_HOOK_post_perdir_config_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn ap_mpm_query(query_code: ::core::ffi::c_int, result: *mut ::core::ffi::c_int) -> apr_status_t;
    pub fn ap_hook_child_stopping(
        pf: ap_HOOK_child_stopping_t,
        aszPre: *const *const ::core::ffi::c_char,
        aszSucc: *const *const ::core::ffi::c_char,
        nOrder: ::core::ffi::c_int,
    );
    pub fn apr_pstrmemdup(p: *mut apr_pool_t, s: *const ::core::ffi::c_char, n: apr_size_t)
    -> *mut ::core::ffi::c_char;
    pub fn setpwent();
    pub fn endpwent();
    pub fn getpwent() -> *mut passwd;
    pub static mut ap_unixd_config: unixd_config_rec;
}
