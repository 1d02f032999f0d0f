import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import ModelSupport
import Testing

/// One way to damage a file.
private enum Damage: CaseIterable {
    case bit, byte, zeroes, noise, cut, longer, swapped, older, missing

    /// Damages the file; false: it is as it was.
    func apply(
        to file: ViewFiles.File,
        older: [String: Data],
        _ random: inout SplitMix64
    ) throws -> Bool {
        let before = try file.content
        guard !before.isEmpty else { return false }
        if self == .missing {
            try FileManager.default.removeItem(at: file.url)
            return true
        }
        var content = before
        let place = Int.random(in: content.indices, using: &random)
        let block = place / 1024 * 1024
        let end = min(block + 1024, content.count)
        switch self {
        case .bit: content[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case .byte: content[place] = ~content[place]
        case .zeroes: for index in block..<end { content[index] = 0 }
        case .noise:
            for index in block..<end { content[index] = .random(in: 0...255, using: &random) }
        case .cut: content = content.prefix(place)
        case .longer: content += Data(repeating: 0, count: 1024)
        case .swapped:
            guard content.count >= 2048 else { return false }
            content = content[1024..<2048] + content[..<1024] + content[2048...]
        case .older:
            guard let other = older.values.filter({ $0.count >= end }).randomElement(using: &random)
            else { return false }
            content = content[..<block] + other[block..<end] + content[end...]
        case .missing: break
        }
        guard content != before else { return false }
        try Data(content).write(to: file.url)
        return true
    }
}

/// Law 4: views may be damaged in whatever way; what is answered is what the log says.
struct `Damaged views` {
    private static let environment = ProcessInfo.processInfo.environment
    /// Damages that are tried; many by the environment.
    private static let count = environment["ENTITLE_VIEW_DAMAGES"].flatMap(Int.init) ?? 150
    private static let seed =
        environment["ENTITLE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    private static let customers = 0..<60

    private static func with(
        _ body: (ViewedLedger, _ older: [String: Data]) throws -> Void
    )
        async throws
    {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: 0..<50, publishing: true)
            // What stood there before, whose blocks are sound in themselves.
            var older: [String: Data] = [:]
            for file in try ViewFiles(below: viewed.path).files {
                older[file.name] = try file.content
            }
            try viewed.fill(customers: 50..<60, publishing: false)
            try body(viewed, older)
        }
    }

    @Test func `give no wrong answer, to a writer or a reader, opened before or after`()
        async throws
    {
        var random = SplitMix64(seed: Self.seed)
        try await Self.with { viewed, older in
            let sound = viewed.path + "-sound"
            try FileManager.default.copyItem(atPath: viewed.path, toPath: sound)
            let asked = Array(Self.customers.shuffled(using: &random).prefix(5))
            var expected: [Bool: Answers] = [:]
            for isReadOnly in [false, true] {
                let ledger = try viewed.open(isReadOnly: isReadOnly)
                expected[isReadOnly] = try Answers(ledger, customers: asked)
                try ledger.close()
            }
            var (damaged, noticed) = (0, 0)
            for number in 0..<Self.count {
                try FileManager.default.removeItem(atPath: viewed.path)
                try FileManager.default.copyItem(atPath: sound, toPath: viewed.path)
                let isReadOnly = number.isMultiple(of: 2)
                let isOpenBefore = number % 4 < 2
                var ledger = try isOpenBefore ? viewed.open(isReadOnly: isReadOnly) : nil
                let files = try ViewFiles(below: viewed.path).files
                let file = try #require(files.randomElement(using: &random))
                let damage = try #require(Damage.allCases.randomElement(using: &random))
                guard try damage.apply(to: file, older: older, &random) else { continue }
                damaged += 1
                let opened = try ledger ?? viewed.open(isReadOnly: isReadOnly)
                ledger = opened
                let answers = try Answers(opened, customers: asked)
                #expect(
                    answers == expected[isReadOnly],
                    "ENTITLE_SEED=\(Self.seed), damage \(number): \(damage) of \(file.name)"
                )
                let isNoticed = try opened.auditor.status().views.discarded != nil
                let faults = try opened.auditor.audit().faults
                #expect(faults.allSatisfy { $0.kind == .view })
                if isNoticed || !faults.isEmpty { noticed += 1 }
                // Whoever has a file open has read its ends; the rest is only remembered answers.
                let isIndex = ["index", "streams", "signals"].contains { file.name.hasPrefix($0) }
                #expect(
                    isNoticed || !faults.isEmpty || isOpenBefore || !isIndex,
                    "ENTITLE_SEED=\(Self.seed), damage \(number): \(damage) of \(file.name)"
                )
                try? opened.close()
            }
            #expect(damaged > Self.count / 2)
            #expect(noticed > damaged / 3, "\(noticed) of \(damaged) were met")
        }
    }

    // The control: views that are sound in themselves and say other than the log give wrong
    // answers, which are seen; an audit finds them.
    @Test func `are found by an audit where their checksums are right`() async throws {
        try await Self.with { viewed, _ in
            let ledger = try viewed.open()
            let expected = try Answers(ledger, customers: Self.customers)
            #expect(try ledger.auditor.audit().isOK)
            try ledger.close()
            let liar = try viewed.open(
                .init(record: { sequence, record in
                    guard sequence == 31 else { return record }
                    var record = record
                    record[41] ^= 0x10
                    let end = record.count - 4
                    let checksum = CRC32C.checksum(record.span.extracting(0..<end))
                    for place in 0..<4 {
                        record[end + place] = UInt8(truncatingIfNeeded: checksum >> (8 * place))
                    }
                    return record
                })
            )
            _ = try liar.auditor.rebuild()
            try liar.close()
            let misled = try viewed.open()
            #expect(try Answers(misled, customers: Self.customers) != expected)
            let faults = try misled.auditor.audit().faults
            #expect(faults.map(\.kind).allSatisfy { $0 == .view })
            #expect(faults.contains { $0.sequence == 31 })
            _ = try misled.auditor.rebuild()
            #expect(try misled.auditor.audit().isOK)
            #expect(try Answers(misled, customers: Self.customers) == expected)
            try misled.close()
        }
    }

    @Test func `are said so by an audit of a reader, and made anew by a writer`() async throws {
        try await Self.with { viewed, _ in
            for file in try ViewFiles(below: viewed.path).files
            where file.name.hasPrefix("streams") {
                try file.change { $0[100] ^= 1 }
            }
            let reader = try viewed.open(isReadOnly: true)
            let faults = try reader.auditor.audit().faults
            #expect(!faults.isEmpty)
            #expect(faults.map(\.kind).allSatisfy { $0 == .view })
            let writer = try viewed.open()
            #expect(try !writer.auditor.audit().isOK)
            _ = try Answers(writer, customers: Self.customers)
            #expect(try writer.auditor.status().views.discarded != nil)
            #expect(try writer.auditor.audit().isOK)
            try writer.close()
            let next = try viewed.open()
            #expect(try next.auditor.audit().isOK)
            #expect(try next.auditor.status().views.discarded == nil)
            try next.close()
        }
    }
}

/// The index grows by runs that are joined.
struct `Views that follow the log` {
    // Law 4: however often it was closed in between, the index is that of the log.
    @Test func `hold each event once, in few files`() async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            for number in 0..<40 {
                try viewed.fill(customers: number * 3..<number * 3 + 3, publishing: number == 0)
                let ledger = try viewed.open(isReadOnly: true)
                #expect(try ledger.auditor.audit().isOK, "after \(number)")
                #expect(try ledger.auditor.status().views.position == ledger.questions.size())
            }
            let runs = try ViewFiles(below: viewed.path).files
                .filter { $0.name.hasPrefix("streams") }
            #expect(runs.count < 10, "\(runs.count) runs")
            let ledger = try viewed.open()
            let followed = try Answers(ledger, customers: 0..<120)
            _ = try ledger.auditor.rebuild()
            #expect(try Answers(ledger, customers: 0..<120) == followed)
            try ledger.close()
        }
    }

    // A crash at any moment: what was not named yet, or is named no more, is not used.
    @Test func `begin anew where a writer was stopped, whatever it left`() async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: 0..<20, publishing: true)
            let kept = folder + "/kept"
            try FileManager.default.copyItem(atPath: viewed.path, toPath: kept)
            try viewed.fill(customers: 20..<30, publishing: false)
            // The index of before, with files of both.
            for file in try ViewFiles(below: kept).files {
                let path = file.url.path.replacingOccurrences(of: kept, with: viewed.path)
                if FileManager.default.fileExists(atPath: path) {
                    try FileManager.default.removeItem(atPath: path)
                }
                try FileManager.default.copyItem(atPath: file.url.path, toPath: path)
            }
            for isReadOnly in [true, false] {
                let ledger = try viewed.open(isReadOnly: isReadOnly)
                #expect(try ledger.auditor.audit().isOK)
                let answers = try Answers(ledger, customers: 0..<30)
                if !isReadOnly {
                    _ = try ledger.auditor.rebuild()
                    #expect(try Answers(ledger, customers: 0..<30) == answers)
                }
                try ledger.close()
            }
        }
    }
}
