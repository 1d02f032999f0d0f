import Entitlements
package import LedgerAPI

/// What came of stores and what goes out to webhooks (Z12, Z19).
package struct DeliveriesPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// What became of stores' signals since the server began.
    package var signals: [Signals]
    /// How complete each source is.
    package var sources: [Keyed<StatusAnswer.Completeness>]
    /// Who is told; nil: not for whoever looks, or the server only reads.
    package var webhooks: [Webhook]?
    /// The page of a webhook.
    package var path: @Sendable (String) -> String
    /// Where the events of a source are.
    package var source: @Sendable (String) -> String

    /// Signals of a store of one outcome.
    package struct Signals: Sendable {
        /// The store.
        package var store: String
        /// What became of them.
        package var outcome: String
        /// How many there were.
        package var count: UInt64

        /// Counts signals.
        package init(store: String, outcome: String, count: UInt64) {
            self.store = store
            self.outcome = outcome
            self.count = count
        }

        /// Whether they were taken.
        fileprivate var isTaken: Bool { ["appended", "duplicate", "known"].contains(outcome) }
    }

    /// Names what the page shows.
    package init(
        language: Language,
        signals: [Signals],
        sources: [Keyed<StatusAnswer.Completeness>],
        webhooks: [Webhook]?,
        path: @escaping @Sendable (String) -> String,
        source: @escaping @Sendable (String) -> String
    ) {
        self.language = language
        self.signals = signals
        self.sources = sources
        self.webhooks = webhooks
        self.path = path
        self.source = source
    }

    /// The title of the page.
    package static func title(in language: Language) -> String {
        PageWords.section(.deliveries)[language]
    }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        if let webhooks {
            page.card(DeliveryWords.out[language]) { write(webhooks, to: &$0) }
        }
        page.card(DeliveryWords.inward[language]) { page in
            page.rows(
                DeliveryWords.inward[language],
                [
                    PageColumn(DeliveryWords.store[language]),
                    PageColumn(DeliveryWords.outcome[language]),
                    .number(DeliveryWords.count[language]),
                ],
                signals.map { signal in
                    [
                        PageCell.code(signal.store).leading(to: source(signal.store)),
                        PageCell.code(signal.outcome).marked(signal.isTaken ? .ok : .bad),
                        .number(signal.count),
                    ]
                },
                empty: DeliveryWords.noSignals[language]
            )
        }
        page.card(HealthWords.sources[language]) { page in
            page.rows(
                HealthWords.sources[language],
                [
                    PageColumn(HealthWords.source[language]),
                    .number(HealthWords.events[language]),
                    PageColumn(HealthWords.lastEvent[language]),
                    PageColumn(HealthWords.complete[language]),
                    PageColumn(HealthWords.gaps[language]),
                ],
                sources.map { entry in
                    [
                        .code(entry.name),
                        PageCell.number(entry.value.events).leading(to: source(entry.name)),
                        .instant(entry.value.lastRecordedAt), .instant(entry.value.through),
                        entry.value.gapCell,
                    ]
                },
                empty: HealthWords.noSources[language]
            )
        }
    }

    private func write(_ webhooks: [Webhook], to page: inout XMLText) {
        page.rows(
            DeliveryWords.out[language],
            [
                PageColumn(EventWords.id[language]), PageColumn(DeliveryWords.address[language]),
                PageColumn(DeliveryWords.state[language]),
                .number(DeliveryWords.waiting[language]), .number(DeliveryWords.dead[language]),
                .number(DeliveryWords.behind[language]),
            ],
            webhooks.map { webhook in
                let waiting = PageCell.number(webhook.waiting)
                let dead = PageCell.number(webhook.dead)
                return [
                    PageCell.code(webhook.id).leading(to: path(webhook.id)), .code(webhook.url),
                    webhook.stateCell(language),
                    (webhook.waiting ?? 0) > 0 ? waiting.marked(.warn) : waiting,
                    (webhook.dead ?? 0) > 0 ? dead.marked(.bad) : dead, .number(webhook.behind),
                ]
            },
            empty: DeliveryWords.nobody[language]
        )
    }
}

/// One who is told, what was not taken, and what can be done.
package struct WebhookPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// Who is told.
    package var webhook: Webhook
    /// What is tried again.
    package var waiting: [WebhookDelivery]
    /// What is not.
    package var dead: [WebhookDelivery]
    /// What a message that was sent to try came to; nil: none was.
    package var trial: WebhookTestAnswer?
    /// What forms send back; nil: whoever looks is not signed in.
    package var token: String?
    /// Where a form goes that does something.
    package var path: @Sendable (String) -> String

    /// Names what the page shows.
    package init(
        language: Language,
        webhook: Webhook,
        waiting: [WebhookDelivery],
        dead: [WebhookDelivery],
        token: String?,
        path: @escaping @Sendable (String) -> String
    ) {
        self.language = language
        self.webhook = webhook
        self.waiting = waiting
        self.dead = dead
        self.token = token
        self.path = path
    }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        if let trial { write(trial, to: &page) }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(DeliveryWords.state[language]) }
            page.pairs([
                (DeliveryWords.state[language], webhook.stateCell(language)),
                (DeliveryWords.address[language], .code(webhook.url)),
                (DeliveryWords.types[language], .code(webhook.types.joined(separator: " "))),
                (
                    EventWords.environment[language],
                    .code(webhook.environments.map(\.name).joined(separator: " "))
                ),
                (DeliveryWords.since[language], .instant(webhook.createdAt)),
                (DeliveryWords.waiting[language], .number(webhook.waiting)),
                (DeliveryWords.dead[language], .number(webhook.dead)),
                (DeliveryWords.behind[language], .number(webhook.behind)),
            ])
            if let token { writeForms(token, to: &page) }
        }
        for (words, deliveries) in [(DeliveryWords.dead, dead), (DeliveryWords.waiting, waiting)] {
            page.card(words[language]) { write(deliveries, words[language], to: &$0) }
        }
    }

    private func write(_ trial: WebhookTestAnswer, to page: inout XMLText) {
        let style = trial.isTaken ? "ok" : "bad"
        page.element("div", ["class": "card answer " + style, "role": "status"]) { page in
            page.element("p", ["class": "sentence"]) { page in
                let words = trial.isTaken ? DeliveryWords.taken : DeliveryWords.notTaken
                page.write(words[language])
            }
            page.pairs([
                ("HTTP", .number(trial.status)),
                (HealthWords.code[language], .code(trial.fault?.rawValue)),
                ("ms", .number(trial.milliseconds)),
            ])
        }
    }

    private func writeForms(_ token: String, to page: inout XMLText) {
        page.element("div", ["class": "inline actions"]) { page in
            page.button(DeliveryWords.test[language], to: path("test"), token: token)
            if webhook.state == .enabled {
                page.button(DeliveryWords.disable[language], to: path("disable"), token: token)
            } else {
                page.button(DeliveryWords.enable[language], to: path("enable"), token: token)
            }
            if let first = dead.map(\.number).min(), let last = dead.map(\.number).max() {
                page.button(
                    DeliveryWords.resend[language],
                    to: path("resend"),
                    token: token,
                    // Fits: numbers are far from the largest.
                    ["from": String(first), "to": String(last + 1)]
                )
            }
        }
    }

    private func write(
        _ deliveries: [WebhookDelivery],
        _ caption: String,
        to page: inout XMLText
    ) {
        page.rows(
            caption,
            [
                .number(EventWords.sequence[language]), PageColumn(EventWords.type[language]),
                .number(DeliveryWords.attempts[language]),
                PageColumn(DeliveryWords.answer[language]),
                PageColumn(DeliveryWords.next[language]), PageColumn(EventWords.id[language]),
            ],
            deliveries.map { delivery in
                [
                    .number(delivery.number), .code(delivery.type), .number(delivery.attempts),
                    .code(delivery.status.map { "HTTP \($0)" } ?? delivery.fault?.rawValue),
                    .instant(delivery.nextAttemptAt), .code(delivery.id),
                ]
            },
            empty: DeliveryWords.none[language]
        )
    }
}

extension Webhook {
    fileprivate func stateCell(_ language: Language) -> PageCell {
        state == .enabled
            ? .words(DeliveryWords.enabled[language]).marked(.ok)
            : .words(DeliveryWords.disabled[language]).marked(
                disabledBecause == .gone ? .bad : .off
            )
    }
}

/// The words of the pages of deliveries.
enum DeliveryWords {
    static let out = Sentence("Webhooks out", "送信Webhook", "對外 Webhook")
    static let inward = Sentence(
        "Signals in, since the server began",
        "受信シグナル（起動後）",
        "收到的訊號（自啟動起）"
    )
    static let store = Sentence("Store", "ストア", "商店")
    static let outcome = Sentence("Outcome", "結果", "結果")
    static let count = Sentence("Count", "件数", "次數")
    static let noSignals = Sentence(
        "No signal came since the server began.",
        "サーバーの起動後、シグナルは届いていません。",
        "伺服器啟動後尚未收到訊號。"
    )
    static let address = Sentence("Address", "宛先", "位址")
    static let state = Sentence("State", "状態", "狀態")
    static let waiting = Sentence("Tried again", "再送待ち", "等待重試")
    static let dead = Sentence("Not tried any more", "再送終了", "停止重試")
    static let behind = Sentence("Behind", "未処理", "待處理")
    static let nobody = Sentence("Nobody is told.", "送信先はありません。", "沒有接收端。")
    static let enabled = Sentence("enabled", "有効", "已啟用")
    static let disabled = Sentence("disabled", "無効", "已停用")
    static let types = Sentence("Types", "種類", "類型")
    static let since = Sentence("Added", "追加日時", "新增時間")
    static let test = Sentence("Send a test", "テスト送信", "傳送測試")
    static let disable = Sentence("Disable", "無効にする", "停用")
    static let enable = Sentence("Enable", "有効にする", "啟用")
    static let resend = Sentence("Deliver once more", "再送する", "重新傳送")
    static let attempts = Sentence("Attempts", "試行回数", "嘗試次數")
    static let answer = Sentence("Last answer", "最後の応答", "最後回應")
    static let next = Sentence("Next attempt", "次回の試行", "下次嘗試")
    static let none = Sentence("None.", "ありません。", "無。")
    static let taken = Sentence("The test was taken.", "テストは受信されました。", "測試已送達。")
    static let notTaken = Sentence(
        "The test was not taken.",
        "テストは受信されませんでした。",
        "測試未被接收。"
    )
}
