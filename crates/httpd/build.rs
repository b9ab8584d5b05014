//! Makes the bindings anew from the installed headers, if the feature `bindgen` is on; otherwise there is nothing to do.
//!
//! They go to a file beside the build, which tests/bindings.rs compares with the one that is checked in. With
//! `MODOAI_WRITE_BINDINGS=1` in the environment they also take its place:
//!
//! ```text
//! MODOAI_WRITE_BINDINGS=1 cargo check -p modoai-httpd --features bindgen
//! ```
//!
//! Only what the safe layer uses is in them. Structures have grown at their ends only since 2.4.49, the oldest release
//! supported, and not at all those that are copied or made by us; the assertions on layout are checked by every build.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "bindgen")]
    recipe::follow();
}

#[cfg(feature = "bindgen")]
mod recipe {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    const FUNCTIONS: &[&str] = &[
        "ap_add_module",
        "ap_add_output_filter_handle",
        "ap_allow_options",
        "ap_auth_name",
        "ap_bucket_error_create",
        "ap_create_conn_config",
        "ap_create_request",
        "ap_exists_config_define",
        "ap_find_linked_module",
        "ap_get_client_block",
        "ap_get_module_config",
        "ap_get_request_module_loglevel",
        "ap_get_server_module_loglevel",
        "ap_getword_conf",
        "ap_hook_(check_authn|check_authz|check_config|child_init|child_stopping|error_log|handler|log_transaction)",
        "ap_hook_(map_to_storage|post_config|post_perdir_config|post_read_request|pre_config|test_config)",
        "ap_hook_(insert_error_filter|translate_name)",
        "ap_hook_get_(check_user_id|pre_connection)",
        "ap_invoke_handler",
        "ap_log_r?error_",
        "ap_mpm_query",
        "ap_parse_uri",
        "ap_pass_brigade",
        "ap_process_request_internal",
        "ap_register_output_filter",
        "ap_remove_output_filter",
        "ap_run_(default_port|http_scheme|post_read_request|type_checker)",
        "ap_server_root_relative",
        "ap_set_content_type",
        "ap_set_module_config",
        "ap_setup_client_block",
        "ap_should_client_block",
        "ap_state_query",
        "ap_strcmp_match",
        "apr_allocator_(create|destroy|max_free_set|owner_set)",
        "apr_brigade_(cleanup|create)",
        "apr_bucket_(alloc|eos|transient)_create",
        "apr_dynamic_fn_retrieve",
        "apr_file_(name_get|open)",
        "apr_os_file_get",
        "apr_os_sock_get",
        "apr_palloc",
        "apr_pool_(cleanup_null|cleanup_register|create_ex|destroy|pre_cleanup_register|tag)",
        "apr_pstrmemdup",
        "apr_setup_signal_thread",
        "apr_sockaddr_info_get",
        "apr_socket_create",
        "apr_table_(add|copy|elts|get|make|set|unset)",
        "apr_uid_homepath_get",
        "(set|get|end)pwent",
    ];

    const VARIABLES: &[&str] = &[
        "ACCESS_CONF",
        "APLOG_(CRIT|DEBUG|ERR|INFO|NOTICE|TRACE1|WARNING)",
        "APR_HOOK_(FIRST|LAST|MIDDLE|REALLY_FIRST)",
        "APR_FOPEN_WRITE",
        "AP_AUTH_INTERNAL_PER_CONF",
        "AP_MPMQ_(IS_THREADED|MAX_DAEMONS|MAX_THREADS|MPM_STATE|STOPPING)",
        "AP_SQ_(MAIN_STATE|MS_CREATE_PRE_CONFIG)",
        "AP_WATCHDOG_STATE_(RUNNING|STARTING|STOPPING)",
        "DECLINED",
        "EXEC_ON_READ",
        "HTTP_(BAD_GATEWAY|FORBIDDEN|INTERNAL_SERVER_ERROR|MOVED_TEMPORARILY|OK|UNAUTHORIZED)",
        "MODULE_MAGIC_(COOKIE|NUMBER_MAJOR|NUMBER_MINOR)",
        "M_(GET|POST)",
        "OK",
        "OPT_INCLUDES",
        "REQUEST_CHUNKED_DECHUNK",
        "RSRC_CONF",
        "ap_server_conf",
        "ap_top_module",
        "ap_unixd_config",
        "apr_bucket_type_file",
    ];

    const TYPES: &[&str] = &[
        "ap_LINK_(check_user_id|pre_connection)_t",
        "ap_directive_t",
        "ap_errorlog_info",
        "ap_filter_t",
        "ap_logconf",
        "ap_watchdog_callback_fn_t",
        "ap_watchdog_t",
        "apr_bucket_file",
        "apr_table_entry_t",
        "cmd_parms",
        "command_rec",
        "conn_rec",
        "core_server_config",
        "module",
        "request_rec",
        "server_rec",
    ];

    /// Never looked into.
    const OPAQUE: &[&str] = &["htaccess_result"];

    const HEADER: &str = "\
    //! Bindings to httpd and APR, made by bindgen (see build.rs); not edited by hand.
    #![allow(clippy::all, clippy::undocumented_unsafe_blocks, clippy::semicolon_if_nothing_returned, dead_code)]
    #![allow(missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals, unreachable_pub)]
    #![allow(unsafe_op_in_unsafe_fn)]
    ";

    pub(super) fn follow() {
        println!("cargo::rerun-if-changed=src/bindings.h");
        println!("cargo::rerun-if-env-changed=MODOAI_WRITE_BINDINGS");
        let made = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo")).join("bindings.rs");
        // Without headers there is nothing to compare with; the test says so.
        let text = compiler_flags().map(bindings).unwrap_or_default();
        write(&made, &text);
        if std::env::var_os("MODOAI_WRITE_BINDINGS").is_some() && !text.is_empty() {
            write(Path::new("src/bindings.rs"), &text);
        }
    }

    fn bindings(flags: Vec<String>) -> String {
        let any = |names: &[&str]| format!("^({})$", names.join("|"));
        let made = bindgen::builder()
            .header("src/bindings.h")
            .clang_args(flags)
            .allowlist_function(any(FUNCTIONS))
            .allowlist_var(any(VARIABLES))
            .allowlist_type(any(TYPES))
            .opaque_type(any(OPAQUE))
            .use_core()
            .generate_comments(false)
            .rust_target(bindgen::RustTarget::stable(88, 0).unwrap_or_else(|_| unreachable!("a release")))
            .rust_edition(bindgen::RustEdition::Edition2024)
            .merge_extern_blocks(true)
            .sort_semantically(true)
            .disable_header_comment()
            .formatter(bindgen::Formatter::None)
            .generate();
        format!("{HEADER}{}", made.expect("bindgen understands the headers"))
    }

    fn write(file: &Path, text: &str) {
        std::fs::write(file, text).expect("the file can be written");
        let formatted =
            Command::new("rustfmt").args(["--edition", "2024", "--config-path", "../.."]).arg(file).status();
        assert!(formatted.is_ok_and(|status| status.success()), "rustfmt");
    }

    /// Where the headers are, if they are.
    fn compiler_flags() -> Option<Vec<String>> {
        let ask = |program: &str, arguments: &[&str]| {
            let output =
                Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let apxs = |what: &str| ask("apxs", &["-q", what]).or_else(|| ask("/usr/bin/apxs2", &["-q", what]));
        let mut flags = vec![format!("-I{}", apxs("INCLUDEDIR")?), format!("-I{}", apxs("APR_INCLUDEDIR")?)];
        flags.extend(apxs("EXTRA_CPPFLAGS")?.split_whitespace().map(str::to_owned));
        Some(flags)
    }
}
