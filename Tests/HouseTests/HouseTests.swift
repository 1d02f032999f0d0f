import Foundation
import Testing

/// The rules of the house that a compiler does not check.
struct `The house` {
    @Test func `has files that one can read at a sitting`() throws {
        for file in try House.files() {
            #expect(
                file.lines.count <= House.lineLimit,
                "\(file.path) has \(file.lines.count) lines"
            )
        }
    }

    // Input from outside never crashes us: what cannot be handled is thrown or refused.
    @Test func `does not stop the program but by a precondition`() throws {
        for file in try House.files() { #expect(House.crashes(file) == [], "\(file.path)") }
        let planted = House.File(path: "planted", lines: ["let x = try! f()", "fatalError()"])
        #expect(House.crashes(planted) == [1, 2])
    }

    @Test func `writes unsafe only where its architecture says`() throws {
        for file in try House.files() where !House.mayBeUnsafe(file.path) {
            #expect(House.unsafeLines(file) == [], "\(file.path)")
        }
        let planted = House.File(path: "planted", lines: ["unsafe f()", "// unsafe words"])
        #expect(House.unsafeLines(planted) == [1])
    }

    // What is renamed into place replaces files only, and whoever writes in place does it knowingly.
    @Test func `writes files in one way`() throws {
        for file in try House.files() where !House.mayWriteFiles(file.path) {
            #expect(House.writers(file) == [], "\(file.path): write by DurableFiles' FileOutput")
        }
        let planted = House.File(
            path: "planted",
            lines: [
                "try Data(text.utf8).write(to: URL(filePath: file), options: .atomic)",
                "json.write(to: &text)", "// rename(a, b)", "manager.createFile(atPath: path)",
                "let file = FileHandle(forWritingAtPath: path)", "unsafe Glibc.rename(new, path)",
                "try DurableFile.rename(next, to: file)", "unsafe open(path, O_WRONLY | O_CREAT)",
                "try manager.moveItem(atPath: part, toPath: name)",
            ]
        )
        #expect(House.writers(planted) == [1, 4, 5, 6, 8, 9])
    }

    // The clock comes in as an argument everywhere below.
    @Test func `asks no clock below the command and the opening of a ledger`() throws {
        for file in try House.files() where !House.mayAskTime(file.path) {
            #expect(House.clocks(file) == [], "\(file.path)")
        }
        let planted = House.File(
            path: "planted",
            lines: [
                "let now = Date()", "// Date()", "var now: Date = Date.now", "ask(Date.init())",
                "Date(timeIntervalSince1970: 0)", "unsafe clock_gettime(CLOCK_REALTIME, &time)",
                "let start = ContinuousClock.now", "Date(timeIntervalSinceNow: 60)",
            ]
        )
        #expect(House.clocks(planted) == [1, 3, 4, 6, 8])
    }

    // One request with the largest number ended the server once.
    @Test func `calculates with a number from outside only where it says why that fits`() throws {
        for file in try House.files() where !file.path.hasPrefix("LedgerBenchmarks/") {
            #expect(OutsideNumbers.unchecked(in: file.lines) == [], "\(file.path)")
        }
    }

    @Test(arguments: [
        ["guard let value = UInt64(digits) else { return nil }", "index = index * 1000 + value"],
        ["@Option(help: \"After it.\") var after: UInt64?", "var next = after.map { $0 + 1 }"],
        ["let count = try cursor.uint32(bytes)", "let end = start + Int(count)"],
        ["let seconds = json[\"seconds\"]?.integer", "let end = (seconds ?? 0) * 1000"],
        ["if let shift = words.first.flatMap({ Int($0) }) {", "return 1 << shift"],
    ])
    func `finds planted arithmetic with a number from outside`(lines: [String]) {
        #expect(OutsideNumbers.unchecked(in: lines) == [2])
        let reasoned = [lines[0], "// Fits: both are below a million.", lines[1]]
        #expect(OutsideNumbers.unchecked(in: reasoned) == [])
        #expect(OutsideNumbers.unchecked(in: [lines[0], "let sum = one + two"]) == [])
    }

    // Names are bytes (Architecture, "Rules of the house"): Swift may take two for one.
    @Test func `keeps and orders names by their bytes`() throws {
        for file in try House.files() where !House.mayKeyByText(file.path) {
            #expect(House.textKeys(file) == [], "\(file.path): a key is a Name")
        }
        for file in try House.files() where !House.mayOrderByText(file.path) {
            #expect(House.textOrders(file) == [], "\(file.path): sort by Name, or by precedes")
        }
        let planted = House.File(
            path: "planted",
            lines: [
                "var met: Set<String> = []", "var byID: [String: Int]",
                "names.sorted { $0.id < $1.id }",
                "let sure: Set<Name> = []", "Dictionary(", "    features.map { ($0.id, $0) },",
                "Dictionary(", "features.map { (Name($0.id), $0) }, ", "things.map { ($0.id, $0) }",
            ]
        )
        #expect(House.textKeys(planted) == [1, 2, 6] && House.textOrders(planted) == [3])
    }

    // A name that is not said is asked of the runtime, for each command at each start: a third of it.
    @Test func `says what each command is called`() throws {
        let files = try House.files().filter { $0.path.hasPrefix("entitle/") }
        #expect(files.map(House.commands).reduce(0, +) > 80)
        for file in files { #expect(House.namelessCommands(file) == [], "\(file.path)") }
        let planted = House.File(
            path: "planted",
            lines: [
                "CommandConfiguration(", "commandName: \"a\",", "CommandConfiguration(",
                "abstract: \"B.\",",
            ]
        )
        #expect(House.namelessCommands(planted) == [3])
    }

    @Test func `has walls: a target imports only what its manifest says`() throws {
        let imports = PackageTargets.imports(try House.text("Package.swift"))
        #expect(imports["Entitlements"] == ["Encodings", "Synchronization"])
        #expect(imports["Stores"]?.isSuperset(of: ["Crypto", "X509", "SwiftASN1"]) == true)
        #expect(imports["entitle"]?.contains("ArgumentParser") == true)
        for file in try House.files() {
            let target = String(file.path.prefix { $0 != "/" })
            let allowed = try #require(imports[target], "\(target) is not in Package.swift")
                .union(House.alsoImports[file.path] ?? [])
            let imported = House.imported(file)
            #expect(imported.isSubset(of: allowed), "\(file.path) imports \(imported)")
        }
        let planted = House.File(path: "Entitlements/x", lines: ["public import Foundation"])
        #expect(House.imported(planted) == ["Foundation"])
    }
}

/// The sources, the tests and the pages as text.
enum House {
    /// Lines of a file; most have less than a third of it.
    static let lineLimit = 400

    struct File: Sendable {
        /// Below `Sources`.
        var path: String
        var lines: [String]
    }

    /// What one file of a target imports for a reason of its own.
    static let alsoImports: [String: Set<String>] = [
        // The reference that the storage is measured beside.
        "LedgerBenchmarks/RawLMDB.swift": ["LMDB"]
    ]

    /// `LMDB` and `SQLite` whole, else one named file for each reason.
    static func mayBeUnsafe(_ path: String) -> Bool {
        path.hasPrefix("LMDB/") || path.hasPrefix("SQLite/")
            || [
                "Encodings/LentBytes.swift",
                "EventLog/Bytes/CRC32C.swift", "EventLog/Bytes/HashState.swift",
                "EventLog/Bytes/LentBytes.swift", "EventLog/Sealing/Cipher.swift",
                "DurableFiles/BlockFile.swift", "DurableFiles/DurableFile.swift",
                "EntitlementLedger/Codec/Zstandard.swift",
                "LedgerOperations/Files/LineReader.swift",
                "entitle/Shell/Interrupt.swift", "entitle/Shell/DeathReport.swift",
                "entitle/Shell/ProcessSecrets.swift",
                "LedgerOperations/Open/SystemClock.swift",
                "LedgerOperations/SpawnedProcess.swift", "LedgerOperations/WaitingThread.swift",
                "LedgerBenchmarks/Plan/Measurement.swift",
                "PostgresStorage/Connection/ConnectionText.swift",
                "PostgresStorage/Connection/PostgresConnection.swift",
            ].contains(path)
    }

    /// Whose keys are words of the program, of a format or of the file system, or hashes.
    static func mayKeyByText(_ path: String) -> Bool {
        ["LMDB/", "LMDBStorage/", "LedgerAPI/", "SQLite/", "StoreSimulator/", "entitle/"]
            .contains { path.hasPrefix($0) }
            || [
                // Names of members, codes and types that the program lists.
                "EntitlementLedger/Check/Auditor+Status.swift",
                "LedgerOperations/Import/ImportReport.swift",
                "LedgerOperations/Export/ExportBundle.swift",
                "LedgerOperations/Backup/BackupManifest.swift",
                "Stores/Apple/AppStoreVerifier.swift", "Stores/Apple/Mapping/AppStorePeriod.swift",
                "Stores/Apple/Mapping/AppStoreRows.swift",
                "Stores/RevenueCat/RevenueCatMapping.swift",
                "Stores/Google/Mapping/PlayStates.swift",
                // Stores and time zones, whose names are ASCII.
                "Entitlements/Catalog/Catalog.swift", "Entitlements/Catalog/CatalogReader.swift",
                "Entitlements/Catalog/CatalogReader+Parts.swift",
                "Entitlements/Explain/Explainer+Unused.swift",
                // What an operator configures; it is asked by its bytes.
                "Stores/Apple/AppStoreConfiguration.swift", "Stores/Apple/AppStoreReader.swift",
                "Stores/Apple/LocalTestingVerifier.swift",
                // Ids that the ledger makes of hexadecimal digits.
                "LedgerServer/Access/KeyRing.swift",
            ].contains(path)
    }

    /// Whose texts are names of the program's own.
    static func mayOrderByText(_ path: String) -> Bool {
        [
            "LMDBStorage/Vault/Names/VaultNames.swift", "LedgerServer/Operate/ServerMetrics.swift",
            "LedgerOperations/Import/ImportReport.swift",
        ].contains(path)
    }

    static func textKeys(_ file: File) -> [Int] {
        var isDictionary = false
        return numbers(file) { line in
            // One that is made of pairs names no type: what stands first in each is the key.
            isDictionary = isDictionary || line.contains("Dictionary(")
            let isPair =
                line.contains("{ (") && (line.contains(".id, ") || line.contains(".name, "))
            defer { isDictionary = line.contains("Dictionary(") && !line.contains(")") }
            return line.contains("Set<String>") || line.contains("[String: ")
                || isDictionary && isPair
        }
    }

    static func textOrders(_ file: File) -> [Int] {
        let members = [
            "name", "id", "label", "store", "productID", "description", "customer", "code",
        ]
        return numbers(file) { line in members.contains { line.contains("$0." + $0 + " < $1.") } }
    }

    /// The sources.
    static func files() throws -> [File] { try sources.get() }

    /// The tests but for those of the house, which plant what they look for; paths begin with
    /// `Tests`.
    static func tests() throws -> [File] { try testFiles.get() }

    // Each is read once: every test asks for them.
    private static let sources = Result { try files(below: "Sources") }
    private static let testFiles = Result {
        try files(below: "Tests").filter { !$0.path.hasPrefix("HouseTests/") }
            .map { File(path: "Tests/" + $0.path, lines: $0.lines) }
    }

    /// The names of the folders of `Sources`.
    static func targets() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root + "/Sources")
    }

    /// The lines of a page of the documentation, by its name.
    static func page(_ name: String) throws -> [String] {
        try text("Sources/EntitlementLedger/EntitlementLedger.docc/\(name).md")
            .components(separatedBy: "\n")
    }

    /// The text of a file at a path below the package.
    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: root + "/" + path, encoding: .utf8)
    }

    /// The names in a folder at a path below the package.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root + "/" + folder)
    }

    /// Writes a file at a path below the package.
    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: root + "/" + path))
    }

    /// Whether the package has a file at a path below it.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root + "/" + path)
    }

    private static let root: String = {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return root.path
    }()

    private static func files(below folder: String) throws -> [File] {
        let folder = root + "/" + folder
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".swift") }
        try #require(paths.count > 100, "the sources are where they were")
        return try paths.map { path in
            let text = try String(contentsOfFile: folder + "/" + path, encoding: .utf8)
            return File(path: path, lines: text.components(separatedBy: "\n"))
        }
    }

    /// How many commands a file configures.
    static func commands(_ file: File) -> Int {
        file.lines.count { $0.contains("CommandConfiguration(") }
    }

    /// The lines, from one, that configure a command and do not begin with its name.
    static func namelessCommands(_ file: File) -> [Int] {
        zip(file.lines, file.lines.dropFirst() + [""]).enumerated()
            .filter {
                $1.0.contains("CommandConfiguration(") && !($1.0 + $1.1).contains("commandName:")
            }
            .map { $0.offset + 1 }
    }

    static func crashes(_ file: File) -> [Int] {
        numbers(file) { line in
            ["try!", "fatalError(", " as! "].contains { line.contains($0) }
        }
    }

    static func unsafeLines(_ file: File) -> [Int] {
        numbers(file) { $0.contains("unsafe ") || $0.contains("(unsafe)") }
    }

    /// Whether a file has unsafe code and does not begin with what makes it sound, or the other way
    /// around.
    static func liesAboutUnsafe(_ file: File) -> Bool {
        let first = file.lines.first ?? ""
        let isSaid = first.hasPrefix("// Unsafe: ") && first.split(separator: " ").count > 2
        return isSaid == unsafeLines(file).isEmpty
    }

    /// The one way to write a file, and the files of views, which are written from their start.
    static func mayWriteFiles(_ path: String) -> Bool {
        [
            "DurableFiles/BlockFile.swift", "DurableFiles/DurableFile.swift",
            // An app's files, by Foundation: DurableFiles is for servers.
            "EntitlementClient/Cache/FileStorage.swift",
            // Opens /dev/null, for a child.
            "LedgerOperations/SpawnedProcess.swift",
        ].contains(path)
    }

    /// Who asks what time it is; how long something takes a `ContinuousClock` says to anybody.
    static func mayAskTime(_ path: String) -> Bool {
        ["entitle/", "entitle-example/"].contains { path.hasPrefix($0) }
            || [
                "LedgerOperations/Open/SystemClock.swift",
                // A stopwatch.
                "LedgerBenchmarks/Plan/Measurement.swift",
            ].contains(path)
    }

    static func clocks(_ file: File) -> [Int] {
        lines(
            of: file,
            matching: #"\bDate(\.init)?\(\)|\bDate\.now\b|\btimeIntervalSinceNow\b"#
                + #"|\b(clock_gettime|gettimeofday|CFAbsoluteTimeGetCurrent)\(|\btime\(nil\)"#
        )
    }

    static func writers(_ file: File) -> [Int] {
        let ways =
            #"\.write\(to: [^&]|\.write\(toFile|createFile\(|forWritingAtPath|forWritingTo"#
            + #"|forUpdating|\bO_CREAT\b|\bO_TRUNC\b|\bO_WRONLY\b|\bO_RDWR\b|(?<!DurableFile)\.rename\("#
            + #"|\.(move|copy|link|replace)Item|createSymbolicLink|\bfopen\(|\bcreat\(|mkstemp|mkdtemp"#
            + #"|OutputStream\(|FileDescriptor\.open"#
        return lines(of: file, matching: ways)
    }

    private static func lines(of file: File, matching ways: String) -> [Int] {
        // Of the whole text first: it is searched in one pass.
        let text = file.lines.joined(separator: "\n")
        guard text.range(of: ways, options: .regularExpression) != nil else { return [] }
        return numbers(file) { $0.range(of: ways, options: .regularExpression) != nil }
    }

    static func imported(_ file: File) -> Set<String> {
        Set(
            file.lines.compactMap { line in
                let words = line.split(separator: " ")
                guard let place = words.firstIndex(of: "import"), place <= 1,
                    place + 1 < words.count, words[0].first != "\""
                else { return nil }
                return String(words[place + 1])
            }
        )
    }

    /// The numbers of lines of code, comments apart, that a rule finds.
    private static func numbers(_ file: File, _ isFound: (String) -> Bool) -> [Int] {
        file.lines.enumerated().compactMap { index, line in
            let code = line.drop { $0 == " " }
            return !code.hasPrefix("//") && isFound(line) ? index + 1 : nil
        }
    }
}
