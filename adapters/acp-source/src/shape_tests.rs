use super::*;

#[test]
fn what_is_written_reads_as_the_same() {
    let fields = json!({
        "toolCallId": "call/1 ", "title": "Edit", "kind": "edit", "name": "mcp__files__edit", "status": "pending",
        "locations": [{ "path": "/srv/a", "line": 3 }, { "path": "b" }],
        "content": [
            { "type": "content", "content": { "type": "text", "text": "why" } },
            { "type": "diff", "path": "/srv/a", "oldText": null, "newText": "x" },
            { "type": "diff", "path": "/srv/a", "oldText": "x", "newText": "y" },
            { "type": "diff", "changes": [{ "path": "c", "operation": "add" }], "patch": { "format": "git", "text": "@@" } },
            { "type": "image", "data": "…" },
            { "type": "terminal", "terminalId": "t" },
            5,
        ],
        "rawInput": { "command": ["a", "b"] }, "odd": { "deep": true }, "_meta": { "x": { "mcpServer": { "name": "files" } } },
    });
    let Value::Object(fields) = fields else { unreachable!() };
    let call = tool_call("call/1 ", &fields);
    let written = written_tool_call(&call);
    assert_eq!(tool_call("call/1 ", &written), call);
    for (fields, id) in [(json!({}), ""), (json!({ "kind": "unheard of", "rawInput": 1 }), "x"), (json!({ "kind": "other" }), "")]
    {
        let Value::Object(fields) = fields else { unreachable!() };
        let call = tool_call(id, &fields);
        assert_eq!(tool_call(id, &written_tool_call(&call)), call);
    }
}

#[test]
fn options_are_written_with_their_ids_as_they_were_spelled() {
    let raw = r#"[{"optionId":" \u0061\ud800 ","name":"Yes","kind":"allow_once","_meta":{"x":1}},{"optionId":"b","name":"","kind":"odd"}]"#;
    let read = |text: &str| options(&RawValue::from_string(text.to_owned()).expect("JSON")).expect("options");
    let written = serde_json::to_string(&written_options(&read(raw))).expect("JSON");
    assert_eq!(written, raw);
    assert_eq!(read(&written), read(raw));
}

#[test]
fn a_fault_says_where_it_is() {
    let fault = |text: &str| options(&RawValue::from_string(text.to_owned()).expect("JSON")).expect_err("a fault");
    for (text, at) in
        [("{}", ""), ("[1]", "/0"), ("[{}]", "/0/optionId"), (r#"[{"optionId":"a"},{"optionId":3}]"#, "/1/optionId")]
    {
        assert_eq!(fault(text).at, at, "{text}");
    }
}
