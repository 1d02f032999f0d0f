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
}
