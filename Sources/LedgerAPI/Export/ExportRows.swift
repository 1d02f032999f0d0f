package import Encodings
package import Entitlements

/// Access to a feature, as a row of an export's tables.
package struct ExportedFeature: Described {
    /// The feature's id.
    package var feature: String
    /// Whether it is allowed (K5).
    package var isAllowed: Bool
    /// Until when.
    package var until: Instant?
    /// Why.
    package var reason: AccessReason
    /// All that unlocks it, with spaces between.
    package var sources: String
    /// Uses of one window.
    package var limit: Int64?
    /// Uses that are left in it.
    package var remaining: Int64?
    /// The window's end.
    package var resetsAt: Instant?

    /// Its columns, in their order.
    package static let fields = Fields("ExportedFeature", "Access to a feature", Self.init) {
        Field("feature", \.feature, .text)
        Field("allowed", \.isAllowed, .boolean)
        Field("until", \.until, .orNull(.instant))
        Field("reason", \.reason, .word)
        Field("sources", \.sources, .text)
        Field("limit", \.limit, .orNull(.count))
        Field("remaining", \.remaining, .orNull(.count))
        Field("resetsAt", \.resetsAt, .orNull(.instant))
    }
}

extension StateAnswer {
    /// The rows of its features.
    package var exportedFeatures: [ExportedFeature] {
        state.features.map { feature in
            ExportedFeature(
                feature: feature.name,
                isAllowed: feature.value.isAllowed,
                until: feature.value.until,
                reason: feature.value.reason,
                sources: feature.value.sources.joined(separator: " "),
                limit: feature.value.limit?.count,
                remaining: feature.value.limit?.remaining,
                resetsAt: feature.value.limit?.resetsAt
            )
        }
    }
}

/// Why a customer has or lacks a feature, as a row of an export's tables.
package struct ExportedDecision: Described {
    /// The feature's id.
    package var feature: String
    /// Whether it is allowed (K5).
    package var isAllowed: Bool
    /// Until when.
    package var until: Instant?
    /// Why.
    package var reason: AccessReason
    /// The decision in a sentence.
    package var summary: String

    /// Its columns, in their order.
    package static let fields = Fields("ExportedDecision", "Why or why not", Self.init) {
        Field("feature", \.feature, .text)
        Field("allowed", \.isAllowed, .boolean)
        Field("until", \.until, .orNull(.instant))
        Field("reason", \.reason, .word)
        Field("summary", \.summary, .text)
    }
}

/// A step to a decision, as a row of an export's tables.
package struct ExportedStep: Described {
    /// The feature's id.
    package var feature: String
    /// From 1 on.
    package var number: Int
    /// The rule of the model; nil: none speaks of it.
    package var rule: Rule?
    /// The event that says so.
    package var sequence: UInt64?
    /// The step in a sentence.
    package var sentence: String

    /// Its columns, in their order.
    package static let fields = Fields("ExportedStep", "A step to a decision", Self.init) {
        Field("feature", \.feature, .text)
        Field("step", \.number, .count)
        Field("rule", \.rule, .orNull(.word))
        Field("sequence", \.sequence, .orNull(.count))
        Field("sentence", \.sentence, .text)
    }
}

extension ExplanationAnswer {
    /// The row of its decision.
    package var exportedDecision: ExportedDecision {
        ExportedDecision(
            feature: feature,
            isAllowed: access.isAllowed,
            until: access.until,
            reason: access.reason,
            summary: summary
        )
    }

    /// The rows of its steps.
    package var exportedSteps: [ExportedStep] {
        steps.enumerated().map { index, step in
            ExportedStep(
                feature: feature,
                number: index + 1,
                rule: step.mark.rule,
                sequence: step.mark.sequence,
                sentence: step.text
            )
        }
    }
}

/// A value that evidence holds, as a row of an export's tables.
package struct ExportedMember: Described {
    /// The place of the first event that was read from it.
    package var sequence: UInt64
    /// SHA-256 of the sealed bytes in hexadecimal.
    package var digest: String?
    /// Where it stands: names and places behind dots; empty: it is all.
    package var member: String
    /// Text, a number, true, false or nothing.
    package var value: JSONValue

    /// Its columns, in their order.
    package static let fields = Fields("ExportedMember", "A value of evidence", Self.init) {
        Field("sequence", \.sequence, .count)
        Field("digest", \.digest, .orNull(.sha256))
        Field("member", \.member, .text)
        Field("value", \.value, .anything)
    }
}

extension ExportedEvidence {
    /// The rows of its values; a body that was received as JSON is read as such.
    package var exportedMembers: [ExportedMember] {
        var members: [ExportedMember] = []
        func add(_ value: JSONValue, at path: String) {
            func inside(_ name: String) -> String { path.isEmpty ? name : path + "." + name }
            switch value {
            case .object(let parts) where !parts.isEmpty:
                for part in parts { add(part.value, at: inside(part.name)) }
            case .array(let parts) where !parts.isEmpty:
                for (index, part) in parts.enumerated() { add(part, at: inside(String(index))) }
            case .object, .array: add(.null, at: path)
            default:
                members.append(
                    ExportedMember(sequence: sequence, digest: digest, member: path, value: value)
                )
            }
        }
        add(received ?? content, at: "")
        return members
    }

    /// A body that was received as JSON and is shown as the text that it was; nil: it is another.
    private var received: JSONValue? {
        // What cannot be read is text.
        guard let text = content.string,
            let json = try? JSONValue(parsing: Array(text.utf8)),
            json.members != nil || json.array != nil
        else { return nil }
        return json
    }
}

/// A record with its proof, as a row of an export's tables.
package struct ExportedRecord: Described {
    /// Its place in the log.
    package var sequence: UInt64
    /// The record in base64.
    package var record: String
    /// Hashes in base64, with spaces between.
    package var proof: String?

    /// Its columns, in their order.
    package static let fields = Fields("ExportedRecord", "A record and its proof", Self.init) {
        Field("sequence", \.sequence, .count)
        Field("record", \.record, .text)
        Field("proof", \.proof, .orNull(.text))
    }
}

extension ExportedProof {
    /// Its row.
    package var exportedRecord: ExportedRecord {
        ExportedRecord(
            sequence: sequence,
            record: record,
            proof: proof?.joined(separator: " ")
        )
    }
}
