package import Encodings
import LedgerAPI

/// A flat table of an export: for spreadsheets and databases.
///
/// No cell holds JSON; all that there is stands in the files of lines.
package enum ExportTable: String, CaseIterable, Sendable {
    case names, purchases, features, stretches, explanations, steps, errors, events, evidence
    case proofs

    /// Its name.
    package var name: String { rawValue }

    /// What it is made of.
    package var part: ExportPart {
        switch self {
        case .names, .purchases: .identity
        case .features: .state
        case .stretches: .timeline
        case .explanations, .steps: .explanations
        case .errors: .errors
        case .events: .events
        case .evidence: .evidence
        case .proofs: .proofs
        }
    }

    /// The names of its columns.
    package var columns: [String] {
        switch self {
        case .names, .purchases: ExportedIdentity.Stream.columns
        case .features: ExportedFeature.columns
        case .stretches: SourceStretch.columns
        case .explanations: ExportedDecision.columns
        case .steps: ExportedStep.columns
        case .errors, .events: ExportedEvent.columns
        case .evidence: ExportedMember.columns
        case .proofs: ExportedRecord.columns
        }
    }

    /// The rows of a line of its part: a cell for each column.
    package func rows(of line: ExportLine) -> [[JSONValue]] {
        switch (self, line) {
        case (.names, .identity(let line)): line.names.map(\.cells)
        case (.purchases, .identity(let line)): line.purchases.map(\.cells)
        case (.features, .state(let line)): line.exportedFeatures.map(\.cells)
        case (.stretches, .timeline(let line)): line.stretches.map(\.cells)
        case (.explanations, .explanation(let line)): [line.exportedDecision.cells]
        case (.steps, .explanation(let line)): line.exportedSteps.map(\.cells)
        case (.errors, .event(let event)), (.events, .event(let event)): [event.row.cells]
        case (.evidence, .evidence(let line)): line.exportedMembers.map(\.cells)
        case (.proofs, .proof(let line)): [line.exportedRecord.cells]
        default: []
        }
    }
}
