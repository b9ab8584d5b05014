//! The checked-in bindings are what bindgen makes of the installed headers: see build.rs.

#[test]
fn the_bindings_are_what_bindgen_makes_of_the_headers() {
    let made = include_str!(concat!(env!("OUT_DIR"), "/bindings.rs"));
    let kept = include_str!("../src/bindings.rs");
    let release = |text: &str| text.lines().find(|line| line.contains("MODULE_MAGIC_NUMBER_MINOR")).map(str::to_owned);
    if made.is_empty() {
        println!("not compared: there is no apxs, so the headers of httpd are not installed");
    } else if release(made) != release(kept) {
        println!("not compared: the installed headers are of another release of httpd than the bindings");
    } else {
        assert!(
            made == kept,
            "write them anew: MODOAI_WRITE_BINDINGS=1 cargo check -p modoai-httpd --features bindgen"
        );
    }
}
