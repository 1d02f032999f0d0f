import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import Stores
import Testing

/// Nobody who was erased stands in what stores have sent, however they were named in it (Z6,
/// Storage, "Evidence"): searched byte by byte, and opened with every key that is left.
struct `Of people who were erased` {
    private static let environment = ProcessInfo.processInfo.environment
    /// Messages in all; `ENTITLE_ERASURE_MESSAGES` asks for more.
    private static let count = environment["ENTITLE_ERASURE_MESSAGES"].flatMap(Int.init) ?? 240
    private static let seed =
        environment["ENTITLE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    private static let messagesPerLedger = 120
    private static let people = 400

    /// What was found of whom.
    private struct Findings {
        var messages = 0
        /// Evidence that opens.
        var opened = 0
        var inEvidence: Set<String> = []
        var inEvents: Set<String> = []
        var inFiles: Set<String> = []
        /// Of those who stay, in evidence.
        var staying: Set<String> = []
        var stayingInEvents: Set<String> = []
    }

    @Test func `nothing is found in any store's message`() async throws {
        var all = Findings()
        for round in 0..<max(1, Self.count / Self.messagesPerLedger) {
            let found = try await Self.run(seed: Self.seed &+ UInt64(round)) { $0 }
            #expect(found.inEvidence.isEmpty, "seed \(Self.seed &+ UInt64(round))")
            #expect(found.inEvents.isEmpty && found.inFiles.isEmpty)
            #expect(!found.staying.isEmpty, "control: those who stay are found")
            all.messages += found.messages
            all.opened += found.opened
            all.staying.formUnion(found.staying)
            all.stayingInEvents.formUnion(found.stayingInEvents)
        }
        print(
            "\(all.messages) messages, \(all.opened) still open, naming \(all.staying.count) who stay"
        )
        #expect(all.messages > Self.count * 3 / 4)
        #expect(!all.stayingInEvents.isEmpty, "control: events name those who stay")
    }

    // The control: sealed for their events alone, as older programs did, they are found.
    @Test func `some are found where the payload's names are not read`() async throws {
        let found = try await Self.run(seed: Self.seed) { submission in
            var submission = submission
            submission.named = []
            submission.links = []
            submission.drafts = submission.drafts.map { draft in
                var draft = draft
                draft.data = EventData(
                    recorded: draft.kind,
                    entries: draft.data.entries.filter { $0.field != .account },
                    document: draft.data.document
                )
                return draft
            }
            return submission
        }
        #expect(!found.inEvidence.isEmpty)
    }

    /// Records messages, erases half of the people, and looks for them.
    private static func run(
        seed: UInt64,
        _ change: (Submission) -> Submission
    ) async throws -> Findings {
        var messages = StoreMessages(people: people, seed: seed)
        let gone = Array(messages.tokens.prefix(people / 2))
        let search = TokenSearch(tokens: Set(gone))
        let control = TokenSearch(tokens: Set(messages.tokens.dropFirst(people / 2)))
        return try await ScratchLedger.with { scratch in
            var found = Findings()
            for number in 0..<messagesPerLedger {
                guard let message = try await messages.next(number) else { continue }
                let receipt = try scratch.ledger.appender.record(change(message.submission))
                guard case .appended(let first, _) = receipt else { continue }
                #expect(
                    TokenSearch(tokens: message.named).found(
                        in: try scratch.ledger.questions.evidence(of: first) ?? []
                    ) == message.named,
                    "the search finds whoever is named"
                )
                found.messages += 1
            }
            let request = Request(id: "erase", source: Source.support, environment: .production)
            _ = try scratch.ledger.eraser.erase(
                gone.flatMap(StoreMessages.ids).compactMap { CustomerID($0) },
                request,
                reading: StoredEvidenceNames()
            )
            try scratch.reopen()
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
            for sequence in 0..<(try scratch.ledger.questions.size()) {
                guard let evidence = try scratch.ledger.questions.evidence(of: sequence) else {
                    continue
                }
                found.opened += 1
                found.inEvidence.formUnion(search.found(in: evidence))
                found.staying.formUnion(control.found(in: evidence))
            }
            try scratch.ledger.questions.events(EventFilter(sequences: 0..<(.max))) { _, event in
                let bytes = Array(event.description.utf8)
                found.inEvents.formUnion(search.found(in: bytes))
                found.stayingInEvents.formUnion(control.found(in: bytes))
                return true
            }
            try scratch.close()
            for file in try files(below: scratch.path) {
                found.inFiles.formUnion(search.found(in: Array(file.bytes)))
            }
            return found
        }
    }
}
