import Encodings
import Entitlements
package import LedgerAPI

/// What differs for a customer between two points in both times: what the app was told, and what is known
/// now (rows 8.6, Z1).
package struct DifferencePage: Sendable {
    /// The language of the page.
    package var language: Language
    /// What is compared with.
    package var from: PagePoint
    /// What is compared.
    package var to: PagePoint
    /// What differs.
    package var answer: DifferenceAnswer
    /// What the forms carry along: names and values.
    package var carried: [(name: String, value: String)] = []
    /// Where other pages stand.
    package var link: CustomerLink

    /// Names what the page shows.
    package init(
        language: Language,
        from: PagePoint,
        to: PagePoint,
        answer: DifferenceAnswer,
        link: @escaping CustomerLink
    ) {
        self.language = language
        self.from = from
        self.to = to
        self.answer = answer
        self.link = link
    }

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        page.element("p") { page in
            page.element("a", ["href": link(.customer, from.at(nil).known(.everything))]) {
                $0.write("← " + ExplanationWords.toCustomer[language])
            }
        }
        writeVerdict(to: &page)
        writeEvents(to: &page)
        writeForms(to: &page)
    }

    private func writeVerdict(to page: inout XMLText) {
        let rows = DifferenceRows(answer.difference, language).rows
        let mark = rows.isEmpty ? "ok" : "warn"
        page.element("section", ["class": "card answer " + mark]) { page in
            page.element("h2") { $0.write(DifferenceWords.whatDiffers[language]) }
            page.element("p", ["class": "sentence", "id": "verdict"]) { page in
                page.write(
                    rows.isEmpty
                        ? DifferenceWords.nothing[language]
                        : DifferenceWords.some.counting(
                            rows.count,
                            one: DifferenceWords.one,
                            in: language
                        )
                )
            }
            page.element("dl", ["class": "pairs"]) { page in
                writePoint("A", from, answer.from, to: &page)
                writePoint("B", to, answer.to, to: &page)
            }
            if !rows.isEmpty { writeTable(rows, to: &page) }
        }
    }

    private func writePoint(
        _ name: String,
        _ point: PagePoint,
        _ compared: ComparedPoint,
        to page: inout XMLText
    ) {
        page.element("dt") { $0.write(name) }
        page.element("dd") { page in
            page.element("a", ["href": link(.customer, point)]) { page in
                page.time(compared.at, language)
                if let known = compared.known {
                    page.write(PointWords.asKnown[language] + " ")
                    page.time(known, language)
                } else {
                    let count = String(compared.sequence)
                    page.write(PointWords.asKnownBy.filled(language) { _ in count })
                }
            }
        }
    }

    private func writeTable(_ rows: [DifferenceRows.Row], to page: inout XMLText) {
        page.element("table", ["class": "rows"]) { page in
            page.element("caption", ["class": "hidden"]) {
                $0.write(DifferenceWords.whatDiffers[language])
            }
            page.head(
                [DifferenceWords.what, DifferenceWords.then, DifferenceWords.now],
                language
            )
            page.element("tbody") { page in
                for row in rows {
                    page.element("tr") { page in
                        page.cell(DifferenceWords.what, language) { page in
                            page.element("strong") { $0.write(row.mark + " ") }
                            page.write(row.kind[language] + " ")
                            page.element("code") { $0.write(row.name) }
                        }
                        page.cell(DifferenceWords.then, language) { $0.write(row.before) }
                        page.cell(DifferenceWords.now, language) { $0.write(row.after) }
                    }
                }
            }
        }
    }

    private func writeEvents(to page: inout XMLText) {
        guard !answer.events.isEmpty || !answer.catalogs.isEmpty else { return }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(DifferenceWords.between[language]) }
            page.element("ol", ["class": "timeline"]) { page in
                for event in answer.events {
                    page.element("li") { page in
                        page.element("strong") { $0.write(event.title(in: language)) }
                        writeTimes(event.time, event.recordedAt, to: &page)
                        writeLink(.event(event.sequence), event.sequence, to: &page)
                    }
                }
                for catalog in answer.catalogs {
                    page.element("li") { page in
                        page.element("strong") { $0.write(DifferenceWords.catalog[language]) }
                        writeTimes(catalog.time, nil, to: &page)
                        writeLink(.catalog(catalog.sequence), catalog.sequence, to: &page)
                    }
                }
            }
        }
    }

    private func writeTimes(_ time: Instant, _ recordedAt: Instant?, to page: inout XMLText) {
        page.write(" · ")
        page.time(time, language)
        if let recordedAt {
            page.write(" · " + CustomerWords.learned[language] + " ")
            page.time(recordedAt, language)
        }
    }

    private func writeLink(_ place: CustomerPlace, _ sequence: UInt64, to page: inout XMLText) {
        page.write(" ")
        page.element("a", ["href": link(place, from)]) { $0.write("#\(sequence)") }
    }

    private func writeForms(to page: inout XMLText) {
        page.element("section", ["class": "card stack"]) { page in
            page.element("h2") { $0.write(DifferenceWords.preset[language]) }
            page.element("form", ["class": "inline"]) { page in
                hidden(to: &page)
                field("told", DifferenceWords.told, from.at, to: &page)
                page.element("button", ["class": "primary"]) {
                    $0.write(PointWords.show[language])
                }
            }
            page.element("h2") { $0.write(DifferenceWords.points[language]) }
            page.element("form", ["class": "inline"]) { page in
                hidden(to: &page)
                field("at", Self.named("A", PointWords.at), from.at, to: &page)
                field("known", Self.named("A", PointWords.known), answer.from.known, to: &page)
                field("toAt", Self.named("B", PointWords.at), to.at, to: &page)
                field("toKnown", Self.named("B", PointWords.known), answer.to.known, to: &page)
                page.element("button") { $0.write(PointWords.show[language]) }
            }
        }
    }

    private static func named(_ side: String, _ words: Sentence) -> Sentence {
        Sentence(
            side + ": " + words[.english],
            side + "：" + words[.japanese],
            side + "：" + words[.traditionalChinese]
        )
    }

    private func field(
        _ name: String,
        _ label: Sentence,
        _ instant: Instant?,
        to page: inout XMLText
    ) {
        page.element("div") { page in
            page.element("label", ["for": name]) { $0.write(label[language]) }
            page.element("input", PagePoint.field(name, instant))
        }
    }

    private func hidden(to page: inout XMLText) {
        for (name, value) in carried {
            page.element("input", ["type": "hidden", "name": name, "value": value])
        }
    }
}

/// The words of the page that compares.
package enum DifferenceWords {
    static let whatDiffers = Sentence("What differs", "違い", "差異")
    static let nothing = Sentence("Nothing differs.", "違いはありません。", "沒有差異。")
    static let one = Sentence("1 thing differs.", "1件の違いがあります。", "有 1 項差異。")
    static let some = Sentence("{count} things differ.", "{count}件の違いがあります。", "有 {count} 項差異。")
    static let what = Sentence("What", "項目", "項目")
    static let then = Sentence("A", "A", "A")
    static let now = Sentence("B", "B", "B")
    static let between = Sentence("In between", "この間のできごと", "期間內的事件")
    static let catalog = Sentence("Catalog published", "カタログの公開", "目錄發佈")
    static let preset = Sentence(
        "What the app was told then, and what is known now",
        "当時アプリに返した回答と、現在の記録",
        "當時回覆應用程式的內容，與現在所知"
    )
    static let told = Sentence("Told at (UTC)", "回答した時点（UTC）", "回覆時間（UTC）")
    static let points = Sentence("Any two points", "任意の2つの時点", "任意兩個時點")
    static let tier = Sentence("tier", "ティア", "等級")
    static let feature = Sentence("feature", "機能", "功能")
    static let purchase = Sentence("purchase", "購入", "購買")
    static let grant = Sentence("grant", "付与", "授予")
    static let trial = Sentence("trial", "お試し", "試用")
    static let warning = Sentence("warnings", "注意点", "注意事項")

    /// The title of the page.
    package static func title(_ id: String, in language: Language) -> String {
        Sentence("Difference: {id}", "違い：{id}", "差異：{id}").filled(language) { _ in id }
    }
}
