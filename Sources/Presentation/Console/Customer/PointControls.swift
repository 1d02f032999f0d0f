import Encodings
import Entitlements
import LedgerAPI

/// How somebody moves in both times: dates, sliders, and steps from one change to the next.
struct PointControls {
    let page: CustomerPage

    private var language: Language { page.language }
    private var point: PagePoint { page.point }

    /// Says where the page stands, unless it is now.
    func writeBanner(to xml: inout XMLText) {
        guard !point.isNow else { return }
        xml.element("p", ["class": "card banner", "role": "status"]) { xml in
            xml.write(PointWords.viewing[language] + " ")
            xml.time(point.at ?? point.now, language)
            switch point.known {
            case .everything: break
            case .instant(let instant):
                xml.write(PointWords.asKnown[language] + " ")
                xml.time(instant, language)
            case .sequence(let size):
                let count = String(size)
                xml.write(PointWords.asKnownBy.filled(language) { _ in count })
            }
            xml.write(" · ")
            let now = PagePoint(at: nil, known: .everything, now: point.now)
            xml.element("a", ["href": page.link(.customer, now)]) {
                $0.write(PointWords.backToNow[language])
            }
        }
    }

    /// Writes the forms, which work without a script.
    func write(to xml: inout XMLText) {
        xml.element("section", ["class": "card stack"]) { xml in
            xml.element("h2") { $0.write(PointWords.title[language]) }
            writeDates(to: &xml)
            writeSlider("atDay", PointWords.at, at: point.at, keeping: point.at(nil), to: &xml)
            writeSlider(
                "knownDay",
                PointWords.known,
                at: knownInstant,
                keeping: point.known(.everything),
                to: &xml
            )
            writeSteps(to: &xml)
        }
    }

    private var knownInstant: Instant? {
        switch point.known {
        case .everything: nil
        case .instant(let instant): instant
        case .sequence: page.timeline.events.map(\.recordedAt).max()
        }
    }

    private func writeDates(to xml: inout XMLText) {
        xml.element("form", ["class": "inline"]) { xml in
            hidden(page.carried, to: &xml)
            for (name, label, instant) in [
                ("at", PointWords.at, point.at), ("known", PointWords.known, knownInstant),
            ] {
                xml.element("div") { xml in
                    xml.element("label", ["for": name]) { $0.write(label[language]) }
                    xml.element("input", PagePoint.field(name, instant))
                }
            }
            xml.element("button") { $0.write(PointWords.show[language]) }
        }
    }

    private func writeSlider(
        _ name: String,
        _ label: Sentence,
        at instant: Instant?,
        keeping rest: PagePoint,
        to xml: inout XMLText
    ) {
        let today = Self.day(point.now)
        let first = page.timeline.events.map { min($0.time, $0.recordedAt) }.min()
        guard let first = first.map({ Self.day($0) }), first < today else { return }
        xml.element("form", ["class": "inline", "data-live": ""]) { xml in
            hidden(page.carried + rest.query, to: &xml)
            xml.element("div", ["class": "slider"]) { xml in
                xml.element("label", ["for": name]) {
                    $0.write(label[language] + PointWords.byDay[language])
                }
                let value = instant.map { min(today, max(first, Self.day($0))) } ?? today
                xml.element(
                    "input",
                    [
                        "type": "range", "id": name, "name": name, "min": String(first),
                        "max": String(today), "value": String(value),
                    ]
                )
            }
            xml.element("button") { $0.write(PointWords.show[language]) }
        }
    }

    private func writeSteps(to xml: inout XMLText) {
        let at = point.at ?? point.now
        let instants = Set(
            page.timeline.features.flatMap { feature in
                feature.value.flatMap { [$0.start, $0.end].compactMap(\.self) }
            }
        )
        let size = page.timeline.question.sequence
        xml.element("ul", ["class": "plain steps"]) { xml in
            let earlier = instants.filter { $0 < at }.max()
            step(PointWords.changeBefore, earlier.map { point.at($0) }, to: &xml)
            let later = instants.filter { $0 > at }.min()
            step(PointWords.changeAfter, later.map { point.at($0) }, to: &xml)
            let last = page.timeline.events.last { $0.sequence < size }
            step(
                PointWords.eventBefore,
                last.map { point.known(.sequence($0.sequence)) },
                to: &xml
            )
            // Fits: the log has the event.
            let next = page.later.first.map { point.known(.sequence($0 + 1)) }
            step(PointWords.eventAfter, next, to: &xml)
        }
    }

    private func step(_ words: Sentence, _ point: PagePoint?, to xml: inout XMLText) {
        guard let point else { return }
        xml.element("li") { xml in
            xml.element("a", ["href": page.link(.customer, point)]) { $0.write(words[language]) }
        }
    }

    private func hidden(_ pairs: [(name: String, value: String)], to xml: inout XMLText) {
        for (name, value) in pairs {
            xml.element("input", ["type": "hidden", "name": name, "value": value])
        }
    }

    /// Days since 1970.
    private static func day(_ instant: Instant) -> Int64 {
        floorDivide(instant.milliseconds, by: Instant.millisecondsPerDay).quotient
    }
}
