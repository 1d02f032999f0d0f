import Encodings
package import EntitlementLedger
package import Entitlements
package import LedgerAPI

/// CloudEvents that are handed in together: lines of JSON, or a JSON array (cloudevents.io, JSON format
/// 1.0.2, section 4).
///
/// Each stands under its own id, so that the same again appends nothing.
package struct EventBatch: Sendable {
    private let lines: [LineReader.Line]

    /// Events that are handed in at once.
    package static let limit = 10_000

    /// Reads a body; what is wrong with one event is told of that one.
    ///
    /// - Throws: `InputFault` for an array that is none, and for more events than are taken.
    package init(_ body: [UInt8]) throws(InputFault) {
        let texts: [[UInt8]]
        if body.first(where: { !Self.blanks.contains($0) }) == UInt8(ascii: "[") {
            texts = try Self.elements(of: body)
        } else {
            texts = body.split(separator: 0x0A)
                .filter { !$0.allSatisfy(Self.blanks.contains) }.map(Array.init)
        }
        guard texts.count <= Self.limit else {
            throw InputFault(.outOfRange, "", "a batch has at most \(Self.limit) events")
        }
        lines = texts.enumerated().map { LineReader.Line(number: $0 + 1, bytes: $1) }
    }

    private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]

    private static func elements(of body: [UInt8]) throws(InputFault) -> [[UInt8]] {
        do throws(JSONFault) {
            let elements = try JSONValue(parsing: body).array ?? []
            return elements.map { Array($0.description.utf8) }
        } catch {
            throw InputFault(.malformed, "", "not JSON at byte \(error.offset): \(error.message)")
        }
    }

    /// Records what can be recorded, in one commit as a rule.
    ///
    /// `clock`: the time. Cost: as `Appender.record`.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func record(
        in ledger: Ledger,
        clock: @escaping @Sendable () -> Instant
    ) throws -> BatchAnswer {
        let reader = ItemReader(format: .events, appStore: nil, playStore: nil, clock: clock)
        let preparation = ItemPreparation(
            ledger: ledger,
            preservesRecordedTime: false,
            keepsBytes: false
        )
        var prepared = PreparedItems()
        for item in reader.items(lines) { try preparation.add(item.fromOutside, to: &prepared) }
        var receipts = try ledger.appender.record(prepared.submissions)[...]
        let items = prepared.items.map { item in
            item.refusal.map { BatchItem(refusal: $0) } ?? BatchItem(receipts.removeFirst())
        }
        return BatchAnswer(items: items, sequence: try ledger.questions.size())
    }
}

extension ImportFormat.Item {
    /// What only the ledger itself records, nobody hands in over the network.
    var fromOutside: Self {
        let own: Set<EventKind> = [.customerErased, .accessLogged]
        guard let submission = result.value,
            submission.drafts.contains(where: { own.contains($0.kind) })
        else { return self }
        var refused = self
        refused.result = .refused(
            ImportRefusal("not_permitted", "type", "only the ledger itself records this")
        )
        return refused
    }
}

extension BatchItem {
    fileprivate init(refusal: ImportRefusal) {
        self.init(.refused, code: refusal.code, path: refusal.path, detail: refusal.detail)
    }

    fileprivate init(_ receipt: Receipt) {
        switch receipt {
        case .appended(let sequence, _): self.init(.appended, sequence: sequence)
        case .duplicate(let sequence): self.init(.duplicate, sequence: sequence)
        // Only what stores say comes to nothing new under another id.
        case .known: self.init(.duplicate)
        case .refused(let refusal):
            self.init(
                .refused,
                code: refusal.code.rawValue,
                path: refusal.path,
                detail: refusal.detail
            )
        }
    }
}
