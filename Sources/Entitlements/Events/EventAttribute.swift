/// The attributes of an event's CloudEvents form (CloudEvents 1.0), in the order in which they are
/// written: what is read, written and described is of this list.
package enum EventAttribute: String, CaseIterable, Sendable {
    case specversion, id, source, type, subject, time, environment, sequence, recordedtime
    case datacontenttype, data, evidence

    /// The version of CloudEvents.
    package static let specificationVersion = "1.0"

    /// Whether no event is without it.
    package var isRequired: Bool {
        switch self {
        case .specversion, .id, .source, .type, .subject, .time: true
        case .environment, .sequence, .recordedtime, .datacontenttype, .data, .evidence: false
        }
    }

    /// Whether an event that is read may have it: evidence is only shown.
    var isRead: Bool { self != .evidence }

    /// What it is, where its name does not say it.
    package var about: String? {
        switch self {
        case .specversion, .type, .recordedtime, .datacontenttype: nil
        case .id:
            "The signal's id, unique within environment and source; the later events of one signal "
                + "are id#2, id#3, …"
        case .source:
            "app_store, play_store, revenuecat, app, support, catalog, ledger, or any other name"
        case .subject: "purchase/STORE/ORIGINAL_ID, customer/ID, store/STORE or catalog"
        case .time: "When it holds in the world"
        case .environment: "Default: production"
        case .sequence: "Place in the log, 0-based, padded to 20 digits"
        case .data: "What it says: the fields of its type"
        case .evidence:
            "The payload that it was read from, as received; null where there is none"
        }
    }
}
