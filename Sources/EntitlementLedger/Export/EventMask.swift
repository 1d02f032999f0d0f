import Entitlements
import EventLog
import LedgerAPI

/// Shows events with what a redaction leaves of them.
struct EventMask {
    let questions: Questions
    let redaction: ExportRedaction
    let view: CustomerView

    /// An event with what is hidden left out, and a subject `masked/NUMBER`; nil: it is not the
    /// asker's.
    ///
    /// - Throws: as `EventOpener.open`.
    func shown(_ record: Span<UInt8>) throws -> OpenedEvent? {
        try view.shown(masked(record), record)
    }

    private func masked(_ record: Span<UInt8>) throws -> OpenedEvent {
        let opener = EventOpener(vault: questions.vault, log: questions.log)
        guard redaction.hidesCustomers else { return try opener.open(record) }
        let header = try RecordHeader(checking: record)
        var shown = OpenedEvent(header: header, kind: try header.eventKind())
        // What stands before the slash is the kind of the subject, which fields leave out.
        try shown.read(record, header.facts) { try name(of: $0) ?? "-/" + MaskedNames.text($0) }
        // The sealed part names whoever sent the event.
        shown.id = nil
        for field in Field.allCases where field.placement == .sealed && shown.kind.has(field) {
            shown.erased.insert(field)
        }
        if header.stream == StreamNumber.catalog {
            shown.subject = Subject.catalog.description
            return shown
        }
        shown.subject = try name(of: header.stream) ?? MaskedNames.text(header.stream)
        if redaction == .names, shown.erased.contains(.transactionID) {
            let id = try opener.id(.transactionID, of: record, header)
            if let id { shown.show(.transactionID, id) }
        }
        return shown
    }

    /// The subject of a stream, where it may be shown.
    private func name(of stream: UInt64) throws -> String? {
        guard redaction == .names, let subject = try questions.vault.name(of: stream)?.subject
        else {
            return nil
        }
        switch Subject(subject) {
        case .purchase?, .store?, .catalog?: return subject
        case .customer?, nil: return nil
        }
    }
}

extension OpenedEvent {
    fileprivate mutating func show(_ field: Field, _ id: String) {
        values[field] = .text(id)
        erased.remove(field)
    }
}

extension EventKind {
    fileprivate func has(_ field: Field) -> Bool {
        shape.required.contains(field) || shape.optional.contains(field)
    }
}

/// Names of purchases, grants and customers as they may be shown.
struct MaskedNames: AnswerNames {
    let questions: Questions
    let redaction: ExportRedaction

    /// A number in the place of a name.
    static func text(_ number: UInt64) -> String { "masked/\(number)" }

    func purchaseName(_ number: UInt64) throws -> String {
        redaction == .all
            ? Self.text(number) : try RecordedNames(questions).purchaseName(number)
    }

    func grantID(givenAt sequence: UInt64) throws -> String {
        redaction.hidesCustomers
            ? Self.text(sequence) : try RecordedNames(questions).grantID(givenAt: sequence)
    }

    func customerName(_ number: UInt64) throws -> String {
        guard !redaction.hidesCustomers,
            let id = try questions.vault.customer(of: number)
        else { return Self.text(number) }
        return id.text
    }
}
