/// What pages are put together from.
extension XMLText {
    /// A part of a page under a heading of its own.
    package mutating func card(
        _ heading: String,
        id: String? = nil,
        _ body: (inout XMLText) -> Void
    ) {
        func write(to page: inout XMLText) {
            page.element("h2") { $0.write(heading) }
            body(&page)
        }
        guard let id else { return element("section", ["class": "card"]) { write(to: &$0) } }
        element("section", ["class": "card", "id": id]) { write(to: &$0) }
    }

    /// A table of rows; where there are none, words that say so.
    ///
    /// On a narrow screen a row's cells stand one below the other behind the names of their columns.
    package mutating func rows(
        _ caption: String,
        _ columns: [PageColumn],
        _ rows: [[PageCell]],
        empty: String
    ) {
        guard !rows.isEmpty else {
            return element("p", ["class": "quiet"]) { $0.write(empty) }
        }
        element(
            "div",
            [
                "class": "wide", "tabindex": "0", "role": "region",
                "aria-label": caption,
            ]
        ) { page in
            page.element("table", ["class": "rows"]) { table in
                table.element("caption", ["class": "hidden"]) { $0.write(caption) }
                table.element("thead") { head in
                    head.element("tr") { row in
                        for column in columns {
                            let kind = column.isNumber ? "number" : "text"
                            row.element("th", ["scope": "col", "class": kind]) {
                                $0.write(column.name)
                            }
                        }
                    }
                }
                table.element("tbody") { body in
                    for cells in rows { body.row(columns, cells) }
                }
            }
        }
    }

    private mutating func row(_ columns: [PageColumn], _ cells: [PageCell]) {
        element("tr") { row in
            for (column, cell) in zip(columns, cells) {
                let kind = column.isNumber ? "number" : "text"
                row.element("td", ["class": kind, "data-label": column.name]) { $0.write(cell) }
            }
        }
    }

    /// Names with what they have.
    package mutating func pairs(_ pairs: [(String, PageCell)]) {
        element("dl", ["class": "pairs"]) { list in
            for (name, cell) in pairs where !cell.text.isEmpty {
                list.element("dt") { $0.write(name) }
                list.element("dd") { $0.write(cell) }
            }
        }
    }

    /// A figure with what it counts, which leads to what it was counted from.
    package mutating func figure(_ label: String, _ value: String, _ path: String?) {
        element("div", ["class": "card"]) { card in
            card.element("span", ["class": "label"]) { $0.write(label) }
            let cell = PageCell.figure(value).leading(to: path)
            card.element("span", ["class": "value"]) { $0.write(cell) }
        }
    }

    /// A field of a form with its label.
    package mutating func input(
        _ label: String,
        _ name: String,
        _ value: String? = nil,
        type: String = "text",
        hint: String = ""
    ) {
        element("div") { part in
            part.element("label", ["for": "f-" + name]) { $0.write(label) }
            part.element(
                "input",
                [
                    "id": "f-" + name, "name": name, "type": type, "value": value ?? "",
                    "placeholder": hint, "autocomplete": "off",
                ]
            )
        }
    }

    /// A field of a form in which one of some values is chosen; each has a name.
    package mutating func choice(
        _ label: String,
        _ name: String,
        _ values: [(value: String, name: String)],
        _ chosen: String?
    ) {
        element("div") { part in
            part.element("label", ["for": "f-" + name]) { $0.write(label) }
            part.element("select", ["id": "f-" + name, "name": name]) { list in
                for (value, name) in values {
                    list.option(value, name, isChosen: value == chosen ?? "")
                }
            }
        }
    }

    /// A value that may be chosen, with its name.
    package mutating func option(_ value: String, _ name: String, isChosen: Bool) {
        let attributes: KeyValuePairs<String, String> =
            isChosen ? ["value": value, "selected": "selected"] : ["value": value]
        element("option", attributes) { $0.write(name) }
    }

    /// A value that a form sends back as it is.
    package mutating func keep(_ name: String, _ value: String?) {
        guard let value else { return }
        element("input", ["type": "hidden", "name": name, "value": value])
    }

    /// A form of one button, which a page of ours shows to whoever may.
    package mutating func button(
        _ label: String,
        to path: String,
        token: String,
        style: String = "",
        _ fields: KeyValuePairs<String, String> = [:]
    ) {
        element("form", ["method": "post", "action": path, "class": "inline"]) { form in
            form.formToken(token)
            for (name, value) in fields { form.keep(name, value) }
            form.element("button", ["class": style]) { $0.write(label) }
        }
    }
}

/// A column of a page's table.
package struct PageColumn: Sendable, ExpressibleByStringLiteral {
    /// What it is called.
    package var name: String
    /// Whether its cells are numbers.
    package var isNumber = false

    /// A column of texts.
    package init(_ name: String) { self.name = name }
    package init(stringLiteral name: String) { self.init(name) }

    /// A column of numbers.
    package static func number(_ name: String) -> Self {
        var column = Self(name)
        column.isNumber = true
        return column
    }
}
