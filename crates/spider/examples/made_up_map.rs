//! Writes maps of made-up webs, to look at and to measure: `made_up_map PAGES FOLDER` leaves `map.html`, `web.dot` and
//! `web.graphml` there.

use std::error::Error;
use std::fs::{File, create_dir_all};
use std::path::PathBuf;

use modoai_spider::map::{write_dot, write_graphml, write_map};

#[path = "../tests/made_up_web.rs"]
mod made_up_web;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let pages = arguments.next().ok_or("how many pages?")?.parse()?;
    let folder = PathBuf::from(arguments.next().ok_or("into which folder?")?);
    create_dir_all(&folder)?;
    let web = made_up_web::MadeUpWeb::of(pages);
    write_map(&web, 0, &mut File::create(folder.join("map.html"))?)?;
    write_dot(&web, 0, &mut File::create(folder.join("web.dot"))?)?;
    write_graphml(&web, 0, &mut File::create(folder.join("web.graphml"))?)?;
    Ok(())
}
