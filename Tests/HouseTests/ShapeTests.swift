import Testing

/// How large things may become before they are hard to read.
struct `The shape of the house` {
    /// Files of a folder; more are no table of contents.
    private static let folderLimit = 20

    @Test func `has functions that fit a screen`() throws {
        for file in try House.files() {
            #expect(FunctionLengths.overlong(in: file.lines) == [], "\(file.path)")
        }
        let head = ["protocol Asking {", "    func ask() -> Int", "}", "extension Asker {"]
        for (count, found) in [(FunctionLengths.limit - 2, []), (FunctionLengths.limit - 1, [5])] {
            let body = ["    func ask(", "        _ it: Int", "    ) -> Int {"]
            let lines =
                head + body + Array(repeating: "        ask()", count: count - 2) + ["    }"]
            #expect(FunctionLengths.overlong(in: lines + ["}"]) == found)
        }
    }

    @Test func `has folders that one can see`() throws {
        var counts: [String: Int] = [:]
        for file in try House.files() + House.tests() {
            counts[file.path.split(separator: "/").dropLast().joined(separator: "/"), default: 0] +=
                1
        }
        #expect(counts.filter { $0.value > Self.folderLimit } == [:])
        #expect(counts.values.max() ?? 0 > Self.folderLimit / 2, "files are counted")
    }

    // Whoever reads `try?` asks what became of the error.
    @Test func `swallows no error without a reason`() throws {
        for file in try House.files() {
            #expect(SwallowedErrors.unexplained(in: file.lines) == [], "\(file.path): say why")
        }
    }

    @Test(arguments: [
        (["f()", "let text = try? read(path)"], [2]),
        (["// What cannot be read is made anew.", "let text = try? read(path)"], []),
        (["/// What it holds.", "var text: String? { try? read(path) }"], [2]),
        (["try? remove(path)  // It is only room on the disk."], []),
        (["// What is damaged is none.", "guard let path,", "    let text = try? read(path)"], []),
        (["// It opens.", "if isOpen {", "    try? remove(path)", "}"], [3]),
        (["// First.", "let one = try? f()", "let two = try? g()"], [3]),
        (["guard let text = try? read(path) else {", "    throw Fault(path)", "}"], []),
        (["guard let text = try? read(path) else {", "    return nil", "}"], [1]),
        (["let json = try? JSONValue(parsing: bytes)", "try? await Task.sleep(for: pause)"], []),
        (["let both = (try? JSONValue(parsing: try? read(path)))"], [1]),
        (["defer { try? file.close() }", "defer { try? file.remove() }"], [2]),
        (["let entry: Entry? = nil", "// A `try? f()` in words."], []),
    ])
    func `finds planted errors that are swallowed`(lines: [String], found: [Int]) {
        #expect(SwallowedErrors.unexplained(in: lines) == found)
    }

    // What is called for each byte of a log costs more than what it does.
    @Test func `inlines into other modules what says so`() throws {
        for file in try House.files() {
            #expect(InlinableMembers.calledAnyway(in: file.lines) == [], "\(file.path)")
        }
        let member = ["    @inlinable", "    package func next() -> Int { 1 }", "}"]
        for (head, found) in [
            (["package struct Cursor {"], [2]), (["package enum Number: Sendable {"], [2]),
            (["@usableFromInline", "package struct Cursor {"], []), (["struct Cursor {"], []),
            (["package extension Span {"], []), (["public struct Cursor {"], []),
        ] {
            #expect(InlinableMembers.calledAnyway(in: head + member) == found)
        }
        let one = ["package struct Cursor {", "    @inlinable package var next: Int { 1 }", "}"]
        #expect(InlinableMembers.calledAnyway(in: one) == [2])
    }

    // A header that is not true any more is worse than none.
    @Test func `says at the head of a file why what is unsafe in it is sound`() throws {
        for file in try House.files() {
            #expect(!House.liesAboutUnsafe(file), "\(file.path): `// Unsafe: `")
        }
        let header = "// Unsafe: a buffer that lives for the call."
        for (lines, lies) in [
            ([header, "", "let count = unsafe read(file)"], false),
            (["// Reads.", "", "let count = unsafe read(file)"], true),
            (["nonisolated(unsafe) var count = 0"], true),
            ([header, "", "let count = read(file)"], true),
            (["// Unsafe:", "", "unsafe f()"], true), (["// An unsafe word.", "f()"], false),
            (["import Glibc", header, "unsafe f()"], true),
        ] {
            #expect(House.liesAboutUnsafe(House.File(path: "planted", lines: lines)) == lies)
        }
    }

    // What one meets under two words one takes for two things.
    @Test func `calls each thing by its one word`() throws {
        for file in try House.files() where !ForbiddenWords.speaksSQL(file.path) {
            #expect(ForbiddenWords.found(in: file.lines) == [:], "\(file.path)")
        }
        for file in try House.tests() {
            #expect(ForbiddenWords.found(in: file.lines, isTest: true) == [:], "\(file.path)")
        }
        let planted = [
            "let lastCarrier = 1", "/// A companion of it.", "table(\"companions\")",
            "/// `companions` and tiles", "EvidenceBlob.open()", "// Worldwide", "var worlds = 2",
        ]
        #expect(ForbiddenWords.found(in: planted).keys.sorted() == [1, 2, 5, 7])
        #expect(ForbiddenWords.found(in: planted, isTest: true).keys.sorted() == [1, 2, 5])
    }
}
