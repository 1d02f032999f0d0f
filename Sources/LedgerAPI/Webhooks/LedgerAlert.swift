public import Entitlements

/// That something is the matter with what a ledger watches, or no longer.
///
/// The `data` of a message `ledger.alert` (Interfaces, "Webhooks"; rows 10.4, 10.5); it names nobody.
public struct LedgerAlert: Described, Hashable {
    /// What it is about.
    public var alert: Kind
    /// Whether it stands.
    public var state: State
    /// The stage, `ORIGIN/CODE` of errors, or the store; nil: there is one of it alone.
    public var about: String?
    /// The environment.
    public var environment: StoreEnvironment
    /// Since when it stands.
    public var since: Instant
    /// A sentence.
    public var detail: String

    /// What may be the matter.
    public enum Kind: String, Sendable, CaseIterable {
        /// A stage of purchase flows takes longer than its threshold (row 10.4).
        case stageSlow = "stage_slow"
        /// An error comes far more often than a while ago (row 10.5).
        case errorRate = "error_rate"
        /// A store that renews purchases says nothing.
        case sourceSilent = "source_silent"
        /// Renewals do not come.
        case renewalsMissing = "renewals_missing"
        /// Google takes purchases back that nobody acknowledges.
        case purchasesUnacknowledged = "purchases_unacknowledged"
    }

    /// Whether an alert stands.
    public enum State: String, Sendable, CaseIterable {
        /// It begins.
        case raised
        /// It is over.
        case ended
    }

    /// Makes one that begins.
    package init(
        _ alert: Kind,
        about: String?,
        in environment: StoreEnvironment,
        since: Instant,
        _ detail: String
    ) {
        self.init(
            alert: alert,
            state: .raised,
            about: about,
            environment: environment,
            since: since,
            detail: detail
        )
    }

    private init(
        alert: Kind,
        state: State,
        about: String?,
        environment: StoreEnvironment,
        since: Instant,
        detail: String
    ) {
        self.alert = alert
        self.state = state
        self.about = about
        self.environment = environment
        self.since = since
        self.detail = detail
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "LedgerAlert",
        "That something is the matter, or no longer",
        {
            Self(alert: $0, state: $1, about: $2, environment: $3, since: $4, detail: $5)
        }
    ) {
        Field("alert", \.alert, .word)
        Field("state", \.state, .word)
        Field(
            "about",
            \.about,
            .orNull(.text),
            "The stage, ORIGIN/CODE of errors, or the store; null: there is one of it alone"
        )
        Field("environment", \.environment, .environment)
        Field("since", \.since, .instant, "Since when it stands")
        Field("detail", \.detail, .text, "A sentence")
    }
}
