import Testing

@testable import Presentation

/// A stylesheet as browsers get it.
struct `A compact stylesheet` {
    static let rows: [(written: String, compact: String)] = [
        ("a { color: red; }\n", "a{color:red}"),
        ("/* why */ a {\n  color: red;\n  top: 0;\n}", "a{color:red;top:0}"),
        ("a /* within */ b, c { d: e }", "a b,c{d:e}"),
        ("/**/a{}/*/*/b{}/***/c{}", "a{}b{}c{}"),
        // Within, and of itself.
        (".a :lang(ja) { b: c } .a:lang(ja) { b: c }", ".a :lang(ja){b:c}.a:lang(ja){b:c}"),
        // A sum needs its spaces, and so does a list.
        ("a { width: calc(1px + 2px); margin: 0 auto }", "a{width:calc(1px + 2px);margin:0 auto}"),
        (
            "@media (min-width: 1px) and (b) { a { c: d; } }",
            "@media (min-width:1px) and (b){a{c:d}}"
        ),
        (
            #"a::after { content: " ; /* } " ; b: '\' { ' }"#,
            #"a::after{content:" ; /* } ";b:'\' { '}"#
        ),
        (#"a { content: attr(b) ": "; }"#, #"a{content:attr(b) ": "}"#),
        ("a { b: c /*", "a{b:c"), (#"a { b: "c"#, #"a{b:"c"#), ("", ""),
    ]

    @Test(arguments: rows)
    func `says the same without what only its authors read`(
        _ row: (written: String, compact: String)
    ) {
        let compact = CompactStyle.sheet(Array(row.written.utf8))
        #expect(String(decoding: compact, as: UTF8.self) == row.compact)
        // What is compact stays as it is.
        #expect(CompactStyle.sheet(compact) == compact)
    }

    @Test func `is what pages load`() {
        let sheet = PageAsset.stylesheet.bytes
        #expect(CompactStyle.sheet(sheet) == sheet)
        let text = String(decoding: sheet, as: UTF8.self)
        #expect(text.contains(#"content:attr(data-label) ": ""#))
        #expect(text.hasPrefix(":root{color-scheme:light dark;--page:#f2f2f7;"))
        #expect(text.contains(".tl text{font:12px system-ui,sans-serif"))
        // Row 5.6: dark where the system is, with a page of that colour.
        let dark = "@media (prefers-color-scheme:dark){:root{--page:#000;--card:#1c1c1e;"
        #expect(text.contains(dark))
        #expect(text.contains("body{margin:0;background:var(--page);color:var(--text);"))
    }
}
