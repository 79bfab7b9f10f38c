//! The schema and the page of keys say what the declarations say.

use scenario::schema;

#[test]
fn the_schema_names_every_key_with_its_meaning() {
    fn walk(schema: &serde_json::Value, path: &str, count: &mut usize) {
        for branch in ["anyOf"] {
            if let Some(first) = schema.get(branch).and_then(|branches| branches.as_array()).and_then(|all| all.last())
            {
                walk(first, path, count);
            }
        }
        for (key, inner) in schema.get("properties").and_then(|p| p.as_object()).into_iter().flatten() {
            *count += 1;
            let doc = inner.get("description").and_then(|doc| doc.as_str()).unwrap_or_default();
            assert!(doc.len() > 4, "{path}.{key} has no meaning");
            walk(inner, &format!("{path}.{key}"), count);
        }
    }
    let mut count = 0;
    walk(&schema(), "", &mut count);
    assert!(count > 150, "{count} keys");
}

/// The reference page is what the declarations say.
#[test]
fn the_reference_page_is_current() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.md");
    let page = std::fs::read_to_string(path).expect("docs/reference/scenario.md is part of the tree");
    assert!(
        page == scenario::reference(),
        "docs/reference/scenario.md is out of date: `trunkline schema --reference` prints it"
    );
}
