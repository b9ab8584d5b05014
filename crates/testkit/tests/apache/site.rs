//! The site of the matrix: every way known to us in which httpd comes to give a file, not to give it, or to give
//! something else. One long table on purpose. `table.rs` has the words; `matrix.rs` proves every line by a GET.

use modoai_testkit::apache::{Launch, Mpm, machine};

use super::table::Made::{Content, ForeignLink, Link, Mode, Script, Size};
use super::table::Who::{Everybody, Members, Nobody, OverTls};
use super::table::{Case, PLAIN, docs, nothing, own, unlisted};

/// Larger resources go by reference alone.
pub(crate) const BY_VALUE_LIMIT: usize = 100_000;

/// alice: secret, bob: hidden; bob is an editor.
const USERS: &str = "alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\nbob:{SHA}mdcsf8Pi4UWHC+qzfAtw40PqnDs=\n";

/// A server with all modules that the cases need, and the two password files, but without the site.
pub(crate) fn launch(mpm: Mpm) -> Launch {
    let launch = Launch::new(mpm).cgi().tls().modules(&[
        "mod_actions",
        "mod_allowmethods",
        "mod_asis",
        "mod_authz_groupfile",
        "mod_buffer",
        "mod_dav",
        "mod_dav_fs",
        "mod_deflate",
        "mod_env",
        "mod_expires",
        "mod_ext_filter",
        "mod_filter",
        "mod_headers",
        "mod_imagemap",
        "mod_include",
        "mod_proxy",
        "mod_proxy_http",
        "mod_ratelimit",
        "mod_rewrite",
        "mod_status",
        "mod_substitute",
        "mod_userdir",
    ]);
    launch.write("users", USERS);
    launch.write("groups", "editors: bob\n");
    match mpm {
        // HTTP/2 needs threads, PHP must not have them.
        Mpm::Prefork => match machine::module_file("libphp*.so") {
            Some(file) => launch.text(&format!("LoadModule php_module \"{}\"", file.display())),
            None => panic!("PHP for httpd is not installed: tools/install-test-tools"),
        },
        Mpm::Worker | Mpm::Event => launch.modules(&["mod_http2"]).text("Protocols h2 h2c http/1.1"),
    }
}

/// All of it.
pub(crate) const CASES: &[Case] = &[
    // --- Files under their own names ---
    Case {
        made: &[
            Content("docs/empty.txt", ""),
            Size("docs/large.txt", BY_VALUE_LIMIT + 1),
            Size("docs/many.txt", 70_000),
        ],
        rows: docs![
            "index.html": Everybody, "plain.txt": Everybody, "sub/index.html": Everybody, "sub/page.html": Everybody,
            "a/b/c/d/e/f.txt": Everybody, "empty.txt": Everybody, "large.txt": Everybody, "many.txt": Everybody,
            "nameless": Everybody, "UPPER.TXT": Everybody, "x.no-such-type": Everybody, "two.dots.tar": Everybody,
        ],
        ..PLAIN
    },
    Case {
        rows: &[
            own("/names/with%20space.txt", "docs/names/with space.txt", Everybody),
            own("/names/%C3%BCml%C3%A4ut.txt", "docs/names/ümläut.txt", Everybody),
            own("/names/100%25.txt", "docs/names/100%.txt", Everybody),
            own("/names/%2541.txt", "docs/names/%41.txt", Everybody),
            own("/names/a%3Fb.txt", "docs/names/a?b.txt", Everybody),
            own("/names/a%23b.txt", "docs/names/a#b.txt", Everybody),
            own("/names/a+b&c=d;e.txt", "docs/names/a+b&c=d;e.txt", Everybody),
            own("/names/'quotes%22.txt", "docs/names/'quotes\".txt", Everybody),
            own("/names/%3Cangle%3E.txt", "docs/names/<angle>.txt", Everybody),
            own("/names/back%5Cslash.txt", "docs/names/back\\slash.txt", Everybody),
            own("/names/line%0Abreak.txt", "docs/names/line\nbreak.txt", Everybody),
            own("/names/fold%20er/x.txt", "docs/names/fold er/x.txt", Everybody),
            own("/names/-dash.txt", "docs/names/-dash.txt", Everybody),
        ],
        ..PLAIN
    },
    // --- URLs that are no file's own name ---
    Case {
        conf: r#"<Directory "${SITE}/docs/fall">
            FallbackResource /fall/index.html
        </Directory>"#,
        rows: &[
            unlisted("/", "docs/index.html"),
            unlisted("/sub/", "docs/sub/index.html"),
            nothing("/sub"),
            nothing("/missing.txt"),
            nothing("/plain.txt/more"),
            nothing("/plain.txt%00"),
            own("/fall/index.html", "docs/fall/index.html", Everybody),
            unlisted("/fall/what/ever", "docs/fall/index.html"),
            unlisted("//plain.txt", "docs/plain.txt"),
        ],
        ..PLAIN
    },
    // --- Aliases ---
    Case {
        conf: r#"Alias "/alias" "${SITE}/else/alias"
        Alias "/A" "${SITE}/else/B"
        Alias "/B" "${SITE}/else/A"
        Alias "/shadow" "${SITE}/else/shadow"
        Alias "/single.txt" "${SITE}/else/alone.txt"
        Alias "/closed-alias" "${SITE}/closed"
        Alias "/twice" "${SITE}/else/alias"
        Alias "/into-docs" "${SITE}/docs/sub"
        Alias "/alias/deeper" "${SITE}/else/deeper"
        AliasMatch "^/match/(.*)$" "${SITE}/else/match/$1"
        OAIRoot "/match" "${SITE}/else/match"
        <Location "/located.txt">
            Alias "${SITE}/else/located.txt"
        </Location>
        <Directory "${SITE}/else">
            Require all granted
            AllowOverride All
        </Directory>"#,
        rows: &[
            own("/alias/x.txt", "else/alias/x.txt", Everybody),
            own("/alias/sub/x.txt", "else/alias/sub/x.txt", Everybody),
            own("/twice/x.txt", "else/alias/x.txt", Everybody),
            own("/twice/sub/x.txt", "else/alias/sub/x.txt", Everybody),
            // Apache looks at aliases in their order, and the first one is the shorter one.
            nothing("/alias/deeper/x.txt"),
            own("/A/x.txt", "else/B/x.txt", Everybody),
            own("/B/x.txt", "else/A/x.txt", Everybody),
            own("/shadow/x.txt", "else/shadow/x.txt", Everybody),
            own("/shadow/below.txt", "docs/shadow/below.txt", Nobody),
            own("/single.txt", "else/alone.txt", Everybody),
            own("/closed-alias/x.txt", "closed/x.txt", Nobody),
            own("/into-docs/page.html", "docs/sub/page.html", Everybody),
            own("/into-docs/index.html", "docs/sub/index.html", Everybody),
            own("/match/x.txt", "else/match/x.txt", Everybody),
            own("/located.txt", "else/located.txt", Everybody),
        ],
        made: &[Content("else/deeper/x.txt", "never seen")],
        ..PLAIN
    },
    Case {
        conf: r#"UserDir "${SITE}/homes/*/public"
        UserDir disabled mallory
        OAIUsers carol dave mallory nobody-of-this-name
        <Directory "${SITE}/homes/*/public">
            Require all granted
            AllowOverride All
        </Directory>"#,
        made: &[Content("homes/carol/public/friends/.htaccess", MEMBERS_ONLY)],
        rows: &[
            own("/~carol/page.html", "homes/carol/public/page.html", Everybody),
            own("/~carol/friends/x.txt", "homes/carol/public/friends/x.txt", Members),
            own("/~dave/page.html", "homes/dave/public/page.html", Everybody),
            own("/~mallory/page.html", "homes/mallory/public/page.html", Nobody),
            // Not one of those that the configuration names.
            unlisted("/~eve/page.html", "homes/eve/public/page.html"),
        ],
        ..PLAIN
    },
    // --- Handlers ---
    Case {
        conf: r#"ScriptAlias "/cgi-bin/" "${SITE}/else/cgi-bin/"
        AddHandler cgi-script .cgi
        <Directory "${SITE}/docs/handlers/exec">
            Options +ExecCGI
        </Directory>
        <Directory "${SITE}/docs/handlers/plain">
            RemoveHandler .cgi
        </Directory>
        <Location "/server-status">
            SetHandler server-status
        </Location>
        <Directory "${SITE}/docs/handlers/status">
            SetHandler server-status
        </Directory>
        <Directory "${SITE}/docs/handlers/status/none">
            SetHandler none
        </Directory>
        <Directory "${SITE}/docs/handlers/default">
            SetHandler default-handler
        </Directory>
        <Directory "${SITE}/docs/handlers/unknown">
            SetHandler no-such-handler
        </Directory>
        AddType text/x-acted .acted
        Action text/x-acted /cgi-bin/run.cgi
        AddHandler acting .acting
        Action acting /cgi-bin/run.cgi
        AddHandler send-as-is .asis
        AddHandler imap-file .map
        DavLockDB run/dav-locks
        <Directory "${SITE}/docs/handlers/dav">
            Dav On
        </Directory>"#,
        made: &[
            Script("else/cgi-bin/run.cgi"),
            Script("docs/handlers/exec/run.cgi"),
            Script("docs/handlers/run.cgi"),
            Script("docs/handlers/plain/run.cgi"),
            Content("docs/handlers/x.asis", "Status: 200 OK\nContent-Type: text/plain\n\nAs it is.\n"),
            Content("docs/handlers/x.map", "default /plain.txt\n"),
        ],
        rows: &[
            own("/cgi-bin/run.cgi", "else/cgi-bin/run.cgi", Nobody),
            own("/handlers/exec/run.cgi", "docs/handlers/exec/run.cgi", Nobody),
            own("/handlers/run.cgi", "docs/handlers/run.cgi", Nobody),
            own("/handlers/plain/run.cgi", "docs/handlers/plain/run.cgi", Everybody),
            own("/server-status", "docs/server-status", Nobody),
            own("/handlers/status/x.txt", "docs/handlers/status/x.txt", Nobody),
            own("/handlers/status/none/x.txt", "docs/handlers/status/none/x.txt", Everybody),
            own("/handlers/default/x.txt", "docs/handlers/default/x.txt", Everybody),
            // httpd gives the file because nobody else wants it. Whether anybody does is known only by asking all of them.
            unlisted("/handlers/unknown/x.txt", "docs/handlers/unknown/x.txt"),
            own("/handlers/x.acted", "docs/handlers/x.acted", Nobody),
            own("/handlers/x.acting", "docs/handlers/x.acting", Nobody),
            own("/handlers/x.asis", "docs/handlers/x.asis", Nobody),
            own("/handlers/x.map", "docs/handlers/x.map", Nobody),
            own("/handlers/dav/x.txt", "docs/handlers/dav/x.txt", Everybody),
            // The repository's own URL, and what is below it.
            own("/modoai", "docs/modoai", Nobody),
            nothing("/modoai/x"),
        ],
        ..PLAIN
    },
    Case {
        php: true,
        conf: r#"<Directory "${SITE}/docs/php">
            <Files "*.php">
                SetHandler application/x-httpd-php
            </Files>
            AddType application/x-httpd-php .phtml
            <Files "forced.txt">
                ForceType application/x-httpd-php
            </Files>
        </Directory>"#,
        made: &[
            Content("docs/php/handled.php", "<?php echo 1 + 1; ?>\n"),
            Content("docs/php/typed.phtml", "<?php echo 1 + 1; ?>\n"),
            Content("docs/php/forced.txt", "<?php echo 1 + 1; ?>\n"),
        ],
        rows: docs![
            "php/handled.php": Nobody, "php/typed.phtml": Nobody, "php/forced.txt": Nobody, "php/x.txt": Everybody,
        ],
    },
    // --- Filters ---
    Case {
        conf: r#"<Directory "${SITE}/docs/ssi">
            Options +Includes
            AddOutputFilter INCLUDES .shtml
        </Directory>
        <Directory "${SITE}/docs/ssi/off">
            Options -Includes
        </Directory>
        <Directory "${SITE}/docs/ssi/xbit">
            XBitHack on
        </Directory>"#,
        made: &[
            Content("docs/ssi/x.shtml", SERVER_PARSED),
            Content("docs/ssi/off/x.shtml", SERVER_PARSED),
            Content("docs/ssi/xbit/with.html", SERVER_PARSED),
            Mode("docs/ssi/xbit/with.html", 0o755),
            Content("docs/ssi/xbit/without.html", SERVER_PARSED),
        ],
        rows: &[
            own("/ssi/x.shtml", "docs/ssi/x.shtml", Nobody),
            own("/ssi/off/x.shtml", "docs/ssi/off/x.shtml", Everybody),
            own("/ssi/xbit/with.html", "docs/ssi/xbit/with.html", Nobody),
            own("/ssi/xbit/without.html", "docs/ssi/xbit/without.html", Everybody),
            // There is nothing to include in it, this time.
            unlisted("/ssi/none.shtml", "docs/ssi/none.shtml"),
        ],
        ..PLAIN
    },
    Case {
        conf: r#"ExtFilterDefine capitals mode=output cmd="/usr/bin/tr a-z A-Z"
        <Directory "${SITE}/docs/filters">
            AddOutputFilter SUBSTITUTE .sub
            AddOutputFilterByType SUBSTITUTE text/css
            Substitute "s/This/That/"
            AddOutputFilter capitals .capitals
            AddOutputFilter DEFLATE .deflate
            AddOutputFilterByType DEFLATE text/html
            AddOutputFilter BUFFER .buffer
            AddOutputFilter RATE_LIMIT .slow
            SetEnv rate-limit 1000
        </Directory>"#,
        rows: &[
            own("/filters/x.sub", "docs/filters/x.sub", Nobody),
            own("/filters/x.css", "docs/filters/x.css", Nobody),
            own("/filters/x.capitals", "docs/filters/x.capitals", Nobody),
            own("/filters/x.deflate", "docs/filters/x.deflate", Everybody),
            own("/filters/x.html", "docs/filters/x.html", Everybody),
            own("/filters/x.slow", "docs/filters/x.slow", Everybody),
            // It has been read and written by a filter; that the bytes are still the same cannot be told without reading.
            unlisted("/filters/x.buffer", "docs/filters/x.buffer"),
        ],
        ..PLAIN
    },
    // --- Negotiation ---
    Case {
        conf: r#"<Directory "${SITE}/docs/neg">
            Options +MultiViews
            AddLanguage en .en
            AddLanguage de .de
            LanguagePriority en de
            ForceLanguagePriority Prefer Fallback
            AddHandler type-map .var
        </Directory>"#,
        made: &[Content(
            "docs/neg/map.var",
            "URI: map\n\nURI: doc.html.en\nContent-type: text/html\nContent-language: en\n",
        )],
        rows: &[
            own("/neg/doc.html.en", "docs/neg/doc.html.en", Everybody),
            own("/neg/doc.html.de", "docs/neg/doc.html.de", Everybody),
            unlisted("/neg/doc", "docs/neg/doc.html.en"),
            unlisted("/neg/doc.html", "docs/neg/doc.html.en"),
            own("/neg/map.var", "docs/neg/doc.html.en", Everybody),
        ],
        ..PLAIN
    },
    // --- Rewriting ---
    Case {
        conf: r#"RewriteEngine On
        RewriteRule "^/rewrite/alias-pt\.txt$" "/plain.txt" [PT]
        RewriteRule "^/rewrite/alias-file\.txt$" "${SITE}/docs/plain.txt"
        RewriteRule "^/rewrite/old-pt\.txt$" "/rewrite/new.txt" [PT]
        RewriteRule "^/rewrite/old-file\.txt$" "${SITE}/docs/rewrite/new.txt"
        RewriteRule "^/rewrite/to-cgi\.txt$" "/cgi-bin/run.cgi" [PT]
        RewriteRule "^/rewrite/rooted/(.*)$" "${SITE}/else/rooted/$1"
        OAIRoot "/rewrite/rooted" "${SITE}/else/rooted"
        RewriteRule "^/rewrite/forbidden\.txt$" "-" [F]
        RewriteRule "^/rewrite/gone\.txt$" "-" [G]
        RewriteRule "^/rewrite/moved\.txt$" "/plain.txt" [R]
        RewriteRule "^/rewrite/main-only\.txt$" "-" [F,NS]
        RewriteRule "^/rewrite/proxied\.txt$" "http://127.0.0.1:${PORT}/plain.txt" [P]
        RewriteRule "^/rewrite/handled\.txt$" "-" [H=server-status]
        RewriteRule "^/rewrite/typed\.txt$" "-" [T=text/x-typed]
        RewriteCond "%{THE_REQUEST}" "/rewrite/said\.txt"
        RewriteRule "^" "-" [F]
        RewriteCond "%{IS_SUBREQ}" "=false"
        RewriteRule "^/rewrite/not-main\.txt$" "-" [F]
        RewriteCond "%{QUERY_STRING}" "."
        RewriteRule "^/rewrite/queried\.txt$" "-" [F]
        RewriteCond "%{REQUEST_METHOD}" "!=GET"
        RewriteRule "^/rewrite/got\.txt$" "-" [F]
        RewriteCond "%{HTTPS}" "!=on"
        RewriteRule "^/rewrite/secure/" "https://127.0.0.1:${TLS_PORT}%{REQUEST_URI}" [R=301]
        RewriteRule "^/rewrite/marked\.txt$" "-" [E=marked:1]
        <Files "marked*.txt">
            Require env marked
        </Files>"#,
        rows: &[
            unlisted("/rewrite/alias-pt.txt", "docs/plain.txt"),
            unlisted("/rewrite/alias-file.txt", "docs/plain.txt"),
            own("/rewrite/new.txt", "docs/rewrite/new.txt", Everybody),
            own("/rewrite/old-pt.txt", "docs/rewrite/new.txt", Everybody),
            own("/rewrite/old-file.txt", "docs/rewrite/new.txt", Everybody),
            own("/rewrite/to-cgi.txt", "docs/rewrite/to-cgi.txt", Nobody),
            own("/rewrite/rooted/x.txt", "else/rooted/x.txt", Everybody),
            own("/rewrite/forbidden.txt", "docs/rewrite/forbidden.txt", Nobody),
            own("/rewrite/gone.txt", "docs/rewrite/gone.txt", Nobody),
            own("/rewrite/moved.txt", "docs/rewrite/moved.txt", Nobody),
            own("/rewrite/main-only.txt", "docs/rewrite/main-only.txt", Nobody),
            own("/rewrite/proxied.txt", "docs/rewrite/proxied.txt", Nobody),
            own("/rewrite/handled.txt", "docs/rewrite/handled.txt", Nobody),
            own("/rewrite/typed.txt", "docs/rewrite/typed.txt", Everybody),
            own("/rewrite/said.txt", "docs/rewrite/said.txt", Nobody),
            own("/rewrite/not-main.txt", "docs/rewrite/not-main.txt", Nobody),
            own("/rewrite/queried.txt", "docs/rewrite/queried.txt", Everybody),
            own("/rewrite/got.txt", "docs/rewrite/got.txt", Everybody),
            own("/rewrite/secure/x.txt", "docs/rewrite/secure/x.txt", OverTls),
            own("/rewrite/marked.txt", "docs/rewrite/marked.txt", Everybody),
            own("/rewrite/marked-not.txt", "docs/rewrite/marked-not.txt", Nobody),
        ],
        // Files of the names that are rewritten: they are there, and nobody ever gets them.
        made: &[Content("docs/rewrite/old-pt.txt", "old"), Content("docs/rewrite/old-file.txt", "old")],
        ..PLAIN
    },
    Case {
        made: &[
            Content(
                "docs/perdir/.htaccess",
                r#"RewriteEngine On
                RewriteRule "^old\.txt$" "new.txt"
                RewriteRule "^to-cgi\.txt$" "/cgi-bin/run.cgi"
                RewriteRule "^forbidden\.txt$" "-" [F]
                RewriteRule "^gone\.txt$" "-" [G]
                RewriteRule "^moved\.txt$" "new.txt" [R]
                RewriteRule "^handled\.txt$" "-" [H=server-status]
                RewriteRule "^left\.txt$" "-" [L]
                RewriteCond "%{THE_REQUEST}" "!/perdir/said\.txt"
                RewriteRule "^said\.txt$" "-" [F]
                RewriteCond "%{REQUEST_URI}" "modoai"
                RewriteRule "^" "-" [F]
                "#,
            ),
            Content("docs/perdir/old.txt", "old"),
        ],
        rows: docs![
            "perdir/new.txt": Everybody, "perdir/to-cgi.txt": Nobody, "perdir/forbidden.txt": Nobody,
            "perdir/gone.txt": Nobody, "perdir/moved.txt": Nobody, "perdir/handled.txt": Nobody,
            "perdir/left.txt": Everybody, "perdir/said.txt": Everybody,
        ],
        ..PLAIN
    },
    Case { rows: &[own("/perdir/old.txt", "docs/perdir/new.txt", Everybody)], ..PLAIN },
    Case {
        conf: r#"Redirect "/redirect/found.txt" "/plain.txt"
        Redirect permanent "/redirect/moved.txt" "/plain.txt"
        Redirect gone "/redirect/gone.txt"
        Redirect 404 "/redirect/absent.txt"
        RedirectMatch "^/redirect/(match)\.txt$" "/plain.txt"
        ProxyPass "/proxied/not" "!"
        ProxyPass "/proxied/" "http://127.0.0.1:${PORT}/sub/""#,
        rows: docs![
            "redirect/found.txt": Nobody, "redirect/moved.txt": Nobody, "redirect/gone.txt": Nobody,
            "redirect/absent.txt": Nobody, "redirect/match.txt": Nobody, "redirect/not.txt": Everybody,
            "proxied/x.txt": Nobody, "proxied/page.html": Nobody, "proxied/not/x.txt": Everybody,
        ],
        ..PLAIN
    },
    // --- Who may: the requester's name ---
    Case {
        made: &[
            Content("docs/members/.htaccess", MEMBERS_ONLY),
            Content("docs/members/open/.htaccess", "Require all granted\n"),
            Content("docs/alice/.htaccess", "AuthType Basic\nAuthName A\nAuthUserFile users\nRequire user alice\n"),
            Content("docs/alice/and-bob/.htaccess", "AuthMerging Or\nRequire user bob\n"),
            Content(
                "docs/editors/.htaccess",
                "AuthType Basic\nAuthName E\nAuthUserFile users\nAuthGroupFile groups\nRequire group editors\n",
            ),
            Content("docs/noone/.htaccess", "AuthType Basic\nAuthName N\nAuthUserFile users\nRequire user carol\n"),
            Content(
                "docs/files/.htaccess",
                "AuthType Basic\nAuthName F\nAuthUserFile users\n<Files \"b*\">\nRequire user bob\n</Files>\n",
            ),
            Content(
                "docs/logic/all/.htaccess",
                "AuthType Basic\nAuthName L\nAuthUserFile users\n<RequireAll>\nRequire valid-user\nRequire not user bob\n</RequireAll>\n",
            ),
            Content(
                "docs/logic/any/.htaccess",
                "AuthType Basic\nAuthName L\nAuthUserFile users\n<RequireAny>\nRequire ip 10.0.0.1\nRequire user bob\n</RequireAny>\n",
            ),
            Content(
                "docs/logic/none/.htaccess",
                "AuthType Basic\nAuthName L\nAuthUserFile users\n<RequireAll>\n<RequireNone>\nRequire user alice\n</RequireNone>\nRequire valid-user\n</RequireAll>\n",
            ),
            Content(
                "docs/compat/satisfy/.htaccess",
                "AuthType Basic\nAuthName C\nAuthUserFile users\nOrder deny,allow\nDeny from all\nSatisfy Any\nRequire user alice\n",
            ),
            Content("docs/compat/deny/.htaccess", "Order deny,allow\nDeny from all\n"),
            Content("docs/compat/allow/.htaccess", "Order allow,deny\nAllow from 127.0.0.1\n"),
        ],
        conf: r#"<Location "/location-bob">
            AuthType Basic
            AuthName "Location"
            AuthUserFile users
            Require user bob
        </Location>"#,
        rows: docs![
            "members/x.txt": Members, "members/deep/er/x.txt": Members, "members/open/x.txt": Everybody,
            "alice/x.txt": Alice, "alice/and-bob/x.txt": Members, "editors/x.txt": Bob, "noone/x.txt": Nobody,
            "files/a.txt": Everybody, "files/b.txt": Bob, "logic/all/x.txt": Alice, "logic/any/x.txt": Bob,
            "logic/none/x.txt": Bob, "compat/satisfy/x.txt": Alice, "compat/deny/x.txt": Nobody,
            "compat/allow/x.txt": Everybody, "location-bob/x.txt": Bob,
        ],
        ..PLAIN
    },
    // --- Who may: everything else that a request is known by ---
    Case {
        conf: r#"<Directory "${SITE}/docs/denied">
            Require all denied
        </Directory>
        <Directory "${SITE}/docs/error-document">
            ErrorDocument 403 /plain.txt
            Require all denied
        </Directory>
        <DirectoryMatch "/docs/dirmatch/[0-9]+">
            Require all denied
        </DirectoryMatch>
        <FilesMatch "\.secret$">
            Require all denied
        </FilesMatch>
        <Location "/located-denied">
            Require all denied
        </Location>
        <Location "/located-denied/granted">
            Require all granted
        </Location>
        <LocationMatch "^/locmatch/.*\.no$">
            Require all denied
        </LocationMatch>
        <If "%{REQUEST_URI} =~ m#^/if/denied#">
            Require all denied
        </If>
        <If "%{REQUEST_URI} =~ m#^/modoai#">
            Header set X-From-Oai "yes"
        </If>
        <Directory "${SITE}/docs/no-override">
            AllowOverride None
        </Directory>
        <Directory "${SITE}/docs/loud">
            LogLevel info
        </Directory>
        <Directory "${SITE}/docs/loud/denied">
            Require all denied
        </Directory>
        AccessFileName .htaccess .acl
        SetEnvIf Request_URI "^/env/uri" by_uri
        SetEnvIf Request_URI "^/modoai" by_oai
        <Directory "${SITE}/docs/env">
            Require env by_uri
        </Directory>
        <Directory "${SITE}/docs/env/oai">
            Require env by_oai
        </Directory>
        <Directory "${SITE}/docs/expr">
            Require expr "%{REQUEST_URI} =~ m#yes#"
        </Directory>
        <Directory "${SITE}/docs/expr/query">
            Require expr "%{QUERY_STRING} =~ m#verb=#"
        </Directory>
        <Directory "${SITE}/docs/expr/the-request">
            Require expr "%{THE_REQUEST} =~ m#^GET /expr/the-request/x.txt HTTP/#"
        </Directory>
        <Directory "${SITE}/docs/ssl/required">
            SSLRequireSSL
        </Directory>
        <Directory "${SITE}/docs/ssl/require">
            Require ssl
        </Directory>
        <Directory "${SITE}/docs/ssl/not">
            Require expr "%{HTTPS} != 'on'"
        </Directory>
        <Directory "${SITE}/docs/methods/post">
            AllowMethods POST
        </Directory>"#,
        made: &[
            Content("docs/htaccess/.htaccess", "Require all denied\n"),
            Content("docs/htaccess/again/.htaccess", "Require all granted\n"),
            Content("docs/no-override/.htaccess", "Require all denied\n"),
            Content("docs/broken/.htaccess", "NoSuchDirective\n"),
            Content("docs/loud/broken/.htaccess", "NoSuchDirective\n"),
            Content("docs/unreadable/.htaccess", "Require all granted\n"),
            Mode("docs/unreadable/.htaccess", 0o000),
            Content("docs/acl/.acl", "Require all denied\n"),
            Content("docs/env/htaccess/.htaccess", "SetEnvIf Request_URI \"ok\" ok\nRequire env ok\n"),
            Content("docs/ip/here/.htaccess", "Require ip 127.0.0.1\n"),
            Content("docs/ip/local/.htaccess", "Require local\n"),
            Content("docs/ip/there/.htaccess", "Require ip 10.0.0.1\n"),
            Content("docs/limit/get/.htaccess", "<Limit GET>\nRequire all denied\n</Limit>\n"),
            Content("docs/limit/post/.htaccess", "<Limit POST>\nRequire all denied\n</Limit>\n"),
            Content("docs/limit/except/.htaccess", "<LimitExcept GET>\nRequire all denied\n</LimitExcept>\n"),
            Content("docs/methods/require/.htaccess", "Require method GET\n"),
        ],
        rows: docs![
            "denied/x.txt": Nobody, "error-document/x.txt": Nobody, "dirmatch/12/x.txt": Nobody,
            "dirmatch/ab/x.txt": Everybody, "x.secret": Nobody, "located-denied/x.txt": Nobody,
            "located-denied/granted/x.txt": Everybody, "locmatch/x.no": Nobody, "locmatch/x.yes": Everybody,
            "if/denied.txt": Nobody, "if/granted.txt": Everybody, "htaccess/x.txt": Nobody,
            "htaccess/again/x.txt": Everybody, "no-override/x.txt": Everybody, "acl/x.txt": Nobody,
            "broken/x.txt": Nobody, "loud/x.txt": Everybody, "loud/denied/x.txt": Nobody, "loud/broken/x.txt": Nobody,
            "unreadable/x.txt": Nobody,
            "env/uri.txt": Everybody, "env/other.txt": Nobody, "env/oai/x.txt": Nobody,
            "env/htaccess/ok.txt": Everybody, "env/htaccess/no.txt": Nobody, "expr/yes.txt": Everybody,
            "expr/no.txt": Nobody, "expr/query/x.txt": Nobody, "expr/the-request/x.txt": Everybody,
            "ip/here/x.txt": Everybody, "ip/local/x.txt": Everybody, "ip/there/x.txt": Nobody,
            "ssl/required/x.txt": OverTls, "ssl/require/x.txt": OverTls, "ssl/not/x.txt": InClear,
            "limit/get/x.txt": Nobody, "limit/post/x.txt": Everybody, "limit/except/x.txt": Everybody,
            "methods/post/x.txt": Nobody, "methods/require/x.txt": Everybody,
        ],
        ..PLAIN
    },
    // --- Links and modes ---
    Case {
        conf: r#"<Directory "${SITE}/docs/links/never">
            Options -FollowSymLinks
        </Directory>
        <Directory "${SITE}/docs/links/owner">
            Options -FollowSymLinks +SymLinksIfOwnerMatch
        </Directory>"#,
        made: &[
            Link("docs/links/follow/inside.txt", "../../plain.txt"),
            Link("docs/links/follow/outside.txt", "../../../linked/x.txt"),
            Link("docs/links/follow/folder", "../../../linked"),
            Link("docs/links/follow/dangling.txt", "nowhere"),
            Link("docs/links/follow/again.txt", "outside.txt"),
            Link("docs/links/never/inside.txt", "../../plain.txt"),
            Link("docs/links/never/folder", "../../../linked"),
            Link("docs/links/owner/same.txt", "../../../linked/x.txt"),
            ForeignLink("docs/links/owner/other.txt", "/etc/hosts"),
            Content("docs/modes/unreadable.txt", "secret"),
            Mode("docs/modes/unreadable.txt", 0o000),
            Content("docs/modes/closed/x.txt", "secret"),
            Mode("docs/modes/closed", 0o000),
            Mode("docs/modes/passable", 0o311),
        ],
        rows: &[
            own("/links/follow/inside.txt", "docs/plain.txt", Everybody),
            own("/links/follow/outside.txt", "linked/x.txt", Everybody),
            own("/links/follow/folder/x.txt", "linked/x.txt", Everybody),
            own("/links/follow/again.txt", "linked/x.txt", Everybody),
            nothing("/links/follow/dangling.txt"),
            own("/links/never/inside.txt", "docs/plain.txt", Nobody),
            own("/links/never/folder/x.txt", "linked/x.txt", Nobody),
            own("/links/never/itself.txt", "docs/links/never/itself.txt", Everybody),
            own("/links/owner/same.txt", "linked/x.txt", Everybody),
            nothing("/links/owner/other.txt"),
            own("/modes/unreadable.txt", "docs/modes/unreadable.txt", Nobody),
            own("/modes/closed/x.txt", "docs/modes/closed/x.txt", Nobody),
            // Those who know the name can have it; but nobody, and so not the indexer, can find it out.
            unlisted("/modes/passable/x.txt", "docs/modes/passable/x.txt"),
        ],
        ..PLAIN
    },
    // --- The site's policy: what a GET gives and the repository keeps to itself ---
    Case {
        conf: r#"<Directory "${SITE}/docs/ignored">
            IndexIgnore *.hid secret-?.txt
        </Directory>"#,
        made: &[
            Content("docs/ignored/more/.htaccess", "IndexIgnore *.more\n"),
            Content("docs/ignored/reset/.htaccess", "IndexIgnoreReset On\n"),
        ],
        rows: &[
            unlisted("/ignored/x.hid", "docs/ignored/x.hid"),
            unlisted("/ignored/secret-1.txt", "docs/ignored/secret-1.txt"),
            own("/ignored/secret-12.txt", "docs/ignored/secret-12.txt", Everybody),
            own("/ignored/x.more", "docs/ignored/x.more", Everybody),
            unlisted("/ignored/more/x.more", "docs/ignored/more/x.more"),
            unlisted("/ignored/more/x.hid", "docs/ignored/more/x.hid"),
            own("/ignored/reset/x.hid", "docs/ignored/reset/x.hid", Everybody),
            unlisted("/.dot", "docs/.dot"),
            unlisted("/policy/.git/config", "docs/policy/.git/config"),
            unlisted("/policy/CVS/Entries", "docs/policy/CVS/Entries"),
            unlisted("/policy/page.html~", "docs/policy/page.html~"),
            unlisted("/policy/%23page.html%23", "docs/policy/#page.html#"),
            unlisted("/policy/.%23page.html", "docs/policy/.#page.html"),
            unlisted("/policy/.page.html.swp", "docs/policy/.page.html.swp"),
            unlisted("/policy/page.swp", "docs/policy/page.swp"),
        ],
        ..PLAIN
    },
    // --- Headers ---
    Case {
        conf: r#"<Directory "${SITE}/docs/headers">
            AddDefaultCharset utf-8
            AddLanguage fr .fr
            AddCharset iso-8859-15 .latin9
            AddEncoding x-gzip .gz
            Header set X-Plain "one, two"
            Header append X-Plain "three"
            Header always set X-Always "<&\"'>"
            Header set X-Path "expr=%{REQUEST_URI}"
            Header set X-User "expr=%{REMOTE_USER}"
            Header add Set-Cookie "a=b; path=/"
            Header add Set-Cookie "c=d; path=/"
            Header unset Accept-Ranges
            <Files "expires.html">
                ExpiresActive On
                ExpiresDefault "access plus 1 day"
            </Files>
            <Files "etag-all.txt">
                FileETag All
            </Files>
            <Files "etag-none.txt">
                FileETag None
            </Files>
            <Files "digest.txt">
                ContentDigest On
            </Files>
            <Files "forced.txt">
                ForceType application/x-forced
            </Files>
            <Files "status.txt">
                Header set X-Status "expr=%{REQUEST_STATUS}"
            </Files>
        </Directory>"#,
        made: &[Content("docs/headers/empty.html", "")],
        rows: docs![
            "headers/x.html": Everybody, "headers/x.html.fr": Everybody, "headers/x.latin9.txt": Everybody,
            "headers/x.tar.gz": Everybody, "headers/expires.html": Everybody, "headers/etag-all.txt": Everybody,
            "headers/etag-none.txt": Everybody, "headers/digest.txt": Everybody, "headers/forced.txt": Everybody,
            "headers/status.txt": Everybody, "headers/empty.html": Everybody,
        ],
        ..PLAIN
    },
];

const MEMBERS_ONLY: &str = "AuthType Basic\nAuthName Members\nAuthUserFile users\nRequire valid-user\n";

const SERVER_PARSED: &str = "<p><!--#echo var=\"DOCUMENT_NAME\" --></p>\n";
