//! Gathers `locales/*/*.ftl` into one table: a new area or language is a new file, nothing else.
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("the folder of texts is readable");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder of texts is readable").path())
        .collect();
    paths.sort();
    paths
}

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo names the package's folder");
    let locales = Path::new(&root).join("locales");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=locales");
    let mut table = String::from("&[\n");
    for language in sorted(&locales) {
        println!("cargo::rerun-if-changed={}", language.display());
        let tag = language.file_name().and_then(|name| name.to_str());
        write!(table, "(\"{}\", &[", tag.expect("a language's tag is text")).expect("written");
        for file in sorted(&language) {
            let path = file.to_str().expect("a path of texts is text");
            write!(table, "include_str!({path:?}), ").expect("written");
        }
        table.push_str("]),\n");
    }
    table.push(']');
    let out = std::env::var("OUT_DIR").expect("cargo names a folder for what is made");
    std::fs::write(Path::new(&out).join("sources.rs"), table).expect("the table is written");
}
