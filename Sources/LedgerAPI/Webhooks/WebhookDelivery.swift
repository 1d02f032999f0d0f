package import Entitlements

/// A delivery to a webhook that was not taken.
package struct WebhookDelivery: Described {
    /// The message's id, as `webhook-id` says it; nil: it is not known any more.
    package var id: String?
    /// The number of what is told: deliveries ascend as it happened.
    package var number: UInt64
    /// Its type; nil: it is not known any more.
    package var type: String?
    /// Whether it is tried again.
    package var state: State
    /// How often it was tried.
    package var attempts: Int
    /// When it is tried next; nil: it is not, or waits for one before it.
    package var nextAttemptAt: Instant?
    /// What the endpoint last answered; nil: it gave no answer.
    package var status: Int?
    /// Why there was no answer; nil: there was one, or it was not tried.
    package var fault: Fault?

    /// Whether it is tried again.
    package enum State: String, Sendable, CaseIterable {
        /// It is, or waits for one that is.
        case waiting
        /// It is not.
        case dead
    }

    /// Why there was no answer.
    package enum Fault: String, Sendable, CaseIterable {
        /// The name has no address.
        case unresolved
        /// Its address is one of a network of one's own.
        case privateAddress = "private_address"
        /// No answer came in time.
        case timeout
        /// The connection could not be made, or broke.
        case connection
    }

    /// Makes one.
    package init(
        id: String?,
        number: UInt64,
        type: String?,
        state: State,
        attempts: Int,
        nextAttemptAt: Instant?,
        status: Int?,
        fault: Fault?
    ) {
        self.id = id
        self.number = number
        self.type = type
        self.state = state
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.status = status
        self.fault = fault
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "WebhookDelivery",
        "A delivery that was not taken",
        Self.init
    ) {
        Field("id", \.id, .orNull(.text), "As `webhook-id` says it")
        Field("number", \.number, .count)
        Field("type", \.type, .orNull(.text))
        Field("state", \.state, .word)
        Field("attempts", \.attempts, .count)
        Field("nextAttemptAt", \.nextAttemptAt, .orNull(.instant))
        Field("status", \.status, .orNull(.integer), "What the endpoint last answered")
        Field("fault", \.fault, .orNull(.word), "Why there was no answer")
    }
}

/// Deliveries to a webhook that were not taken.
package struct WebhookDeliveriesAnswer: Described {
    /// In the order of what is told.
    package var deliveries: [WebhookDelivery]

    /// Makes an answer.
    package init(deliveries: [WebhookDelivery]) { self.deliveries = deliveries }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "WebhookDeliveries",
        "Deliveries that were not taken",
        Self.init
    ) {
        Field("deliveries", \.deliveries, .list(.object))
    }
}

/// What is delivered once more.
package struct WebhookResendAnswer: Described {
    /// Deliveries that are tried again from now on.
    package var resent: Int
    /// The number behind the last one that was looked at; nil: all were.
    package var next: UInt64?

    /// Makes an answer.
    package init(resent: Int, next: UInt64?) {
        self.resent = resent
        self.next = next
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("WebhookResend", "What is delivered once more", Self.init) {
        Field("resent", \.resent, .count)
        Field("next", \.next, .orNull(.count), "Where the rest begins; null: there is none")
    }
}

/// What became of a message that was sent to try a webhook.
package struct WebhookTestAnswer: Described {
    /// Whether it was taken.
    package var isTaken: Bool
    /// What the endpoint answered; nil: nothing.
    package var status: Int?
    /// Why there was no answer; nil: there was one.
    package var fault: WebhookDelivery.Fault?
    /// How long it took.
    package var milliseconds: Int

    /// Makes an answer.
    package init(isTaken: Bool, status: Int?, fault: WebhookDelivery.Fault?, milliseconds: Int) {
        self.isTaken = isTaken
        self.status = status
        self.fault = fault
        self.milliseconds = milliseconds
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "WebhookTest",
        "What became of a message that was sent to try a webhook",
        Self.init
    ) {
        Field("taken", \.isTaken, .boolean)
        Field("status", \.status, .orNull(.integer))
        Field("fault", \.fault, .orNull(.word))
        Field("milliseconds", \.milliseconds, .count)
    }
}
