package import Encodings
import Entitlements
package import LedgerAPI

/// One event: what it says, when it held and was recorded, and what proves that it is there.
package struct EventPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// The event.
    package var told: ToldEvent
    /// The proof that it stands in the log; nil: none yet, or not for whoever looks.
    package var proof: RecordProofAnswer?
    /// Whether whoever looks may have a proof.
    package var mayProve: Bool
    /// What is told of its evidence; nil: it has none, or it does not open.
    package var evidence: Evidence?
    /// The earlier event that it repeats, and where its page is; nil: it counts.
    package var repeated: (sequence: UInt64, path: String)?
    /// Whether that can be told: not where an earlier record is damaged that may be of the same id.
    package var isDecided = true
    /// The page of whom or what it is about; nil: there is none for whoever looks.
    package var subject: String?
    /// Where the event before it is; nil: nowhere.
    package var previous: String?
    /// Where the event behind it is; nil: nowhere.
    package var next: String?

    /// Names what the page shows.
    package init(language: Language, told: ToldEvent, mayProve: Bool) {
        self.language = language
        self.told = told
        self.mayProve = mayProve
    }

    /// Bytes of a text that stand in the page; the rest is had as JSON.
    private static let textLimit = 64 << 10

    /// Writes the page.
    package func write(to page: inout XMLText) {
        let event = told.event
        page.element("div", ["class": "card answer"]) { page in
            page.element("p", ["class": "sentence", "lang": "en"]) { $0.write(told.sentence) }
            page.pairs([
                (EventWords.type[language], .code(event.type)),
                (EventWords.subject[language], PageCell.code(event.subject).leading(to: subject)),
                (EventWords.effective[language], .instant(event.time)),
                (
                    EventWords.recorded[language],
                    PageCell.instant(event.recordedAt).marked(event.late == nil ? nil : .warn)
                ),
                (
                    EventWords.delay[language],
                    event.late == nil ? "" : .words(EventWords.late[language])
                ),
                (EventWords.source[language], .code(event.source)),
                (EventWords.id[language], .code(event.id)),
                (EventWords.environment[language], .code(event.environment?.name)),
            ])
        }
        page.element("p", ["class": "inline"]) { page in
            for (path, words) in [(previous, EventWords.previous), (next, EventWords.next)] {
                guard let path else { continue }
                page.element("a", ["class": "button", "href": path]) { $0.write(words[language]) }
            }
        }
        page.card(EventWords.evidence[language]) { writeEvidence(to: &$0) }
        page.card(EvidenceWords.decision[language]) { writeDecision(to: &$0) }
        page.card("CloudEvents") { page in
            let text = event.jsonValue.indented
            let shown = text.utf8.count > Self.textLimit ? String(text.prefix(4096)) + "…" : text
            page.element("pre", ["id": "event-json", "tabindex": "0"]) { $0.write(shown) }
            page.copier("event-json", language)
        }
        if mayProve { page.card(EventWords.proof[language]) { writeProof(to: &$0) } }
    }

    private func writeProof(to page: inout XMLText) {
        guard let proof else {
            return page.element("p") { $0.write(EventWords.noProof[language]) }
        }
        page.element("p") { $0.write(EventWords.proven[language]) }
        page.pairs([
            (EventWords.treeSize[language], .number(proof.tree.size)),
            (EventWords.root[language], .code(proof.tree.rootHash)),
        ])
        page.element("details") { page in
            page.element("summary") { $0.write("C2SP tlog-proof") }
            page.element("pre", ["id": "event-proof", "tabindex": "0"]) {
                $0.write(proof.tree.proof)
            }
            page.copier("event-proof", language)
        }
    }
}

extension XMLText {
    /// What copies a text: of use with a script alone.
    mutating func copier(_ id: String, _ language: Language) {
        element("p", ["hidden": "hidden", "data-script": "copy"]) { part in
            part.element(
                "button",
                ["type": "button", "data-copy": id, "data-done": EventWords.copied[language]]
            ) { $0.write(EventWords.copy[language]) }
        }
    }
}

extension Described {
    /// Its JSON as a value.
    package var jsonValue: JSONValue {
        .object(zip(Self.columns, cells).map { JSONMember($0, $1) })
    }
}

extension JSONValue {
    /// The text with a line for each member and element, for people.
    package var indented: String {
        var text = ""
        append(to: &text, "")
        return text
    }

    private func append(to text: inout String, _ indent: String) {
        let inner = indent + "  "
        switch self {
        case .object(let members) where !members.isEmpty:
            text += "{"
            for (place, member) in members.enumerated() {
                text += (place == 0 ? "\n" : ",\n") + inner
                text += JSONValue.string(member.name).description + ": "
                member.value.append(to: &text, inner)
            }
            text += "\n" + indent + "}"
        case .array(let elements) where !elements.isEmpty:
            text += "["
            for (place, element) in elements.enumerated() {
                text += (place == 0 ? "\n" : ",\n") + inner
                element.append(to: &text, inner)
            }
            text += "\n" + indent + "]"
        default: text += description
        }
    }
}
