package import Encodings
import Entitlements
package import LedgerAPI

/// The events of the log, the newest first, and what they are chosen by.
package struct EventListPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// The newest first.
    package var events: [ToldEvent]
    /// What was chosen, by the names of parameters.
    package var chosen: [Name: String]
    /// Where older events are; nil: nowhere.
    package var older: String?
    /// Where newer ones are; nil: nowhere.
    package var newer: String?
    /// Where new ones are told; nil: not on this page.
    package var stream: String?
    /// Whether somebody has to be named first: support sees events of customers only.
    package var needsCustomer = false
    /// The page of an event.
    package var path: @Sendable (ToldEvent) -> String
    /// The page of whom or what an event is about; nil: there is none for whoever looks.
    package var subject: @Sendable (ToldEvent) -> String?

    /// Names what the page shows.
    package init(
        language: Language,
        events: [ToldEvent],
        chosen: [Name: String],
        path: @escaping @Sendable (ToldEvent) -> String,
        subject: @escaping @Sendable (ToldEvent) -> String?
    ) {
        self.language = language
        self.events = events
        self.chosen = chosen
        self.path = path
        self.subject = subject
    }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        page.card(EventWords.choose[language]) { writeForm(to: &$0) }
        page.card(EventWords.events[language]) { page in
            if let stream {
                page.liveControls(stream, language)
            }
            page.element("div", ["id": "live"]) { $0.events(self) }
            writeLinks(to: &page)
        }
    }

    private func writeLinks(to page: inout XMLText) {
        page.element("p", ["class": "inline"]) { page in
            for (path, words) in [(newer, EventWords.newer), (older, EventWords.older)] {
                guard let path else { continue }
                page.element("a", ["class": "button", "href": path]) { $0.write(words[language]) }
            }
        }
    }

    private func writeForm(to page: inout XMLText) {
        if needsCustomer {
            page.element("p") { $0.write(EventWords.needsCustomer[language]) }
        }
        page.element("form", ["class": "inline", "action": "/console/events"]) { form in
            let any = [("", EventWords.any[language])]
            form.choice(
                EventWords.type[language],
                "type",
                any + EventKind.allCases.map { ($0.name, $0.name) },
                chosen["type"]
            )
            form.input(EventWords.customer[language], "customer", chosen["customer"])
            form.input(
                EventWords.purchase[language],
                "purchase",
                chosen["purchase"],
                hint: "app_store/…"
            )
            form.input(EventWords.source[language], "source", chosen["source"])
            form.choice(
                EventWords.environment[language],
                "environment",
                StoreEnvironment.allCases.map { ($0.name, $0.name) },
                chosen["environment"] ?? StoreEnvironment.production.name
            )
            form.input(EventWords.from[language], "from", chosen["from"], hint: "2026-01-31")
            form.input(EventWords.to[language], "to", chosen["to"], hint: "2026-02-28")
            form.keep("lang", chosen["lang"])
            form.element("button", ["class": "primary"]) { $0.write(EventWords.show[language]) }
        }
    }
}

extension XMLText {
    /// Events as rows, each leading to its page.
    mutating func events(_ list: EventListPage) {
        let language = list.language
        rows(
            EventWords.events[language],
            [
                .number(EventWords.sequence[language]), PageColumn(EventWords.recorded[language]),
                PageColumn(EventWords.effective[language]), PageColumn(EventWords.event[language]),
                PageColumn(EventWords.what[language]), PageColumn(EventWords.subject[language]),
                PageColumn(EventWords.source[language]),
            ],
            list.events.map { told in
                let event = told.event
                return [
                    .number(event.sequence).leading(to: list.path(told)),
                    .instant(event.recordedAt),
                    event.late == nil
                        ? .instant(event.time)
                        : .instant(event.time).marked(.warn),
                    .code(event.type), .english(told.sentence),
                    .code(event.subject).leading(to: list.subject(told)), .code(event.source),
                ]
            },
            empty: EventWords.none[language]
        )
    }

    /// What holds new rows back, or lets them in: of use with a script alone.
    mutating func liveControls(_ stream: String, _ language: Language) {
        element("p", ["class": "inline", "hidden": "hidden", "data-script": "live"]) { part in
            part.element(
                "button",
                [
                    "type": "button", "data-stream": stream, "data-live-target": "live",
                    "aria-pressed": "false", "data-on": EventWords.paused[language],
                    "data-off": EventWords.live[language],
                ]
            ) { $0.write(EventWords.pause[language]) }
        }
    }
}
