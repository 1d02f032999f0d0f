import Foundation
import Testing

/// The page that newcomers read first says what stands, not what once stood.
struct `The architecture's page` {
    /// Modules of the compiler's own, which need no reason.
    private static let ownModules: Set<String> = [
        "Darwin", "Dispatch", "Glibc", "Musl", "Synchronization",
    ]

    @Test func `lists what each target imports`() throws {
        let listed = Self.imports(in: try House.page("Architecture"))
        var imported: [String: Set<String>] = [:]
        for file in try House.files() {
            let target = String(file.path.prefix { $0 != "/" })
            imported[target, default: []].formUnion(House.imported(file))
        }
        for target in Set(listed.keys).union(try House.targets()).sorted() {
            let modules = imported[target, default: []].subtracting(Self.ownModules)
            #expect(listed[target]?.sorted() == modules.sorted(), "\(target), section Targets")
        }
    }

    @Test func `lists every folder`() throws {
        let listed = Self.folders(in: try House.page("Architecture"))
        let folders = Set(
            try House.files().compactMap { file -> String? in
                let parts = file.path.split(separator: "/")
                return parts.count > 2 ? parts[...1].joined(separator: "/") : nil
            }
        )
        #expect(listed.subtracting(folders).sorted() == [], "no such folder: Where things are")
        #expect(folders.subtracting(listed).sorted() == [], "not in Where things are")
    }

    // What people copy is what a test builds and runs.
    @Test func `leads to a program that is run`() throws {
        let program = try House.text("Tests/Embedding/main.swift")
        let pages = [
            "Embed.md": try House.page("Embed").joined(separator: "\n"),
            "README.md": try House.text("README.md"),
        ]
        for (name, page) in pages {
            #expect(
                page.contains("```swift\n" + program + "```"),
                "\(name): Tests/Embedding/main.swift"
            )
        }
        let page = try House.page("AddToYourApp").joined(separator: "\n")
        for name in try House.names(in: "Sources/entitle-example") {
            let text = try House.text("Sources/entitle-example/" + name)
            #expect(page.contains("```swift\n" + text + "```"), "AddToYourApp.md: \(name)")
        }
    }

    @Test func `is read as it is written`() {
        let page = [
            "| row | target | imports | why |", "| 2 | `Stores` | `Crypto`, `X509` | verified |",
            "| 0 | `CLMDB`, `CZstd` | nothing | C |", "| `Stores/Apple` | signatures |",
        ]
        #expect(
            Self.imports(in: page) == ["Stores": ["Crypto", "X509"], "CLMDB": [], "CZstd": []]
        )
        #expect(Self.folders(in: page) == ["Stores/Apple"])
    }

    /// The table of targets: number, targets, what they import, why.
    private static func imports(in page: [String]) -> [String: Set<String>] {
        var imports: [String: Set<String>] = [:]
        for cells in page.map(cells) where cells.count == 4 && Int(cells[0]) != nil {
            for target in words(cells[1]) { imports[target] = Set(words(cells[2])) }
        }
        return imports
    }

    /// The table of folders: path, what it holds.
    private static func folders(in page: [String]) -> Set<String> {
        Set(
            page.map(cells).filter { $0.count == 2 }.flatMap { words($0[0]) }
                .filter { $0.contains("/") }
        )
    }

    private static func cells(_ line: String) -> [String] {
        guard line.hasPrefix("| "), line.hasSuffix(" |") else { return [] }
        return line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
    }

    /// What stands in code quotes.
    private static func words(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
