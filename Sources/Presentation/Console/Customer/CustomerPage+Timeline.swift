import Entitlements
import LedgerAPI

extension CustomerPage {
    /// Events that the list shows, at most: the newest ones.
    private static let eventLimit = 200
    /// What is learned later than this after it held is shown with both its times.
    private static let toldLaterMilliseconds: Int64 = 60_000

    /// What happened, newest first.
    func writeTimeline(to page: inout XMLText) {
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(CustomerWords.timeline[language]) }
            let events = timeline.events.sorted {
                ($0.time, $0.sequence) > ($1.time, $1.sequence)
            }
            let late = Set(timeline.late.map(\.sequence))
            if events.isEmpty {
                page.element("p") { $0.write(CustomerWords.noEvents[language]) }
            }
            page.element("ol", ["class": "timeline", "reversed": ""]) { page in
                for event in events.prefix(Self.eventLimit) {
                    page.element("li") {
                        writeEvent(event, isLate: late.contains(event.sequence), to: &$0)
                    }
                }
            }
            if events.count > Self.eventLimit {
                page.element("p", ["class": "quiet"]) { page in
                    let rest = String(events.count - Self.eventLimit)
                    page.write(CustomerWords.more.filled(language) { _ in rest })
                }
            }
        }
    }

    private func writeEvent(_ event: ListedEvent, isLate: Bool, to page: inout XMLText) {
        page.element("b") { $0.write(event.title(in: language)) }
        page.write(" · ")
        page.time(event.time, language)
        page.write(" ")
        page.element("a", ["href": link(.event(event.sequence), point)]) {
            $0.write("#\(event.sequence)")
        }
        if isLate { writeLate(event, to: &page) }
        let details = event.details
        if !details.isEmpty {
            page.element("div", ["lang": "en"]) { $0.write(details) }
        }
        page.element("small") { page in
            let (delay, overflow) = event.recordedAt.milliseconds
                .subtractingReportingOverflow(event.time.milliseconds)
            if !overflow, delay > Self.toldLaterMilliseconds {
                page.write(CustomerWords.learned[language] + " ")
                page.time(event.recordedAt, language)
                page.write(" (" + CustomerWords.delay(delay, language) + ") · ")
            }
            page.write(event.source ?? CustomerWords.hidden[language])
        }
    }

    private func writeLate(_ event: ListedEvent, to page: inout XMLText) {
        page.write(" ")
        // What the app was told before the ledger learned of it, and what was true.
        let place = CustomerPlace.change(byEvent: event.sequence)
        page.element("a", ["class": "chip warn", "href": link(place, point)]) {
            $0.write(CustomerWords.late[language])
        }
    }
}
