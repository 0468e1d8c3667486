//! The table and the tests name each other.

#[test]
fn every_row_of_the_table_names_a_test_and_every_test_has_a_row() {
    let table = include_str!("../../src/attacks.md");
    let sources = [
        include_str!("binding.rs"),
        include_str!("claims.rs"),
        include_str!("form.rs"),
        include_str!("header.rs"),
        include_str!("keys.rs"),
        include_str!("kinds.rs"),
        include_str!("signature.rs"),
        include_str!("wycheproof.rs"),
    ]
    .concat();
    let named: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    for name in &named {
        assert!(
            sources.contains(&format!("fn {name}()")),
            "no test is called {name}"
        );
    }
    let tests: Vec<&str> = sources
        .split("#[test]\nfn ")
        .skip(1)
        .filter_map(|rest| rest.split("()").next())
        .collect();
    for test in &tests {
        assert!(named.contains(test), "{test} is not in the table");
    }
    assert_eq!(named.len(), tests.len());
}
