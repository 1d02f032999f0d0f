package import Encodings
package import Entitlements
package import LedgerAPI

/// What is sold and what it unlocks: the catalog in force, those before it, what differs between two, and
/// another one that is tried and published (Z3).
package struct CatalogPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// The document in force; nil: none was published.
    package var document: JSONValue?
    /// What opens which gate by it.
    package var gates: GateMap?
    /// What was published, the newest first.
    package var versions: [Version]
    /// The versions that are compared, and what differs.
    package var compared: (from: UInt64?, to: UInt64?, difference: CatalogDifference)?
    /// Where a catalog is tried, and what the form sends back; nil: whoever looks is not signed in.
    package var form: (path: String, token: String)?
    /// The page of an event; nil: it is not for whoever asks.
    package var path: @Sendable (UInt64) -> String?

    /// A catalog that was published.
    package struct Version: Sendable {
        /// Its place in the log.
        package var sequence: UInt64
        /// From when on it is in force.
        package var effective: Instant
        /// Whether it is in force now.
        package var isInForce: Bool

        /// Names a version.
        package init(sequence: UInt64, effective: Instant, isInForce: Bool) {
            self.sequence = sequence
            self.effective = effective
            self.isInForce = isInForce
        }
    }

    /// Names what the page shows.
    package init(
        language: Language,
        document: JSONValue?,
        gates: GateMap?,
        versions: [Version],
        path: @escaping @Sendable (UInt64) -> String?
    ) {
        self.language = language
        self.document = document
        self.gates = gates
        self.versions = versions
        self.path = path
    }

    /// The title of the page.
    package static func title(in language: Language) -> String {
        PageWords.section(.catalog)[language]
    }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        if let gates { page.card(CatalogWords.gates[language]) { write(gates, to: &$0) } }
        page.card(CatalogWords.versions[language]) { writeVersions(to: &$0) }
        if let compared {
            page.card(CatalogWords.difference[language], id: "difference") { page in
                page.difference(compared.difference)
            }
        }
        page.card(CatalogWords.document[language]) { page in
            guard let document else {
                return page.element("p") { $0.write(CatalogWords.noCatalog[language]) }
            }
            page.element("details") { page in
                page.element("summary") { $0.write("JSON") }
                page.element("pre", ["id": "catalog-json", "tabindex": "0"]) {
                    $0.write(document.indented)
                }
            }
            page.copier("catalog-json", language)
        }
        if let form {
            page.card(CatalogWords.another[language]) { page in
                page.catalogForm(form.path, form.token, document?.indented ?? "", nil, language)
            }
        }
    }

    private func write(_ gates: GateMap, to page: inout XMLText) {
        page.rows(
            CatalogWords.gates[language],
            [CatalogWords.feature, CatalogWords.level, CatalogWords.products]
                .map { PageColumn($0[language]) },
            gates.features.sorted { $0.key < $1.key }.map { feature, gate in
                [
                    .code(feature.text), .code(gate.level),
                    .code(gate.products.joined(separator: " ")),
                ]
            },
            empty: CatalogWords.noCatalog[language]
        )
    }

    private func writeVersions(to page: inout XMLText) {
        page.rows(
            CatalogWords.versions[language],
            [
                .number(EventWords.sequence[language]),
                PageColumn(CatalogWords.effective[language]),
                PageColumn(CatalogWords.state[language]),
            ],
            versions.map { version in
                [
                    PageCell.number(version.sequence).leading(to: path(version.sequence)),
                    .instant(version.effective),
                    version.isInForce
                        ? .words(CatalogWords.inForce[language]).marked(.ok) : "",
                ]
            },
            empty: CatalogWords.noCatalog[language]
        )
        guard versions.count > 1 else { return }
        page.element("form", ["class": "inline", "action": "/console/catalog"]) { form in
            let options = versions.map { version in
                (String(version.sequence), "\(version.sequence) · \(version.effective)")
            }
            let (from, to) = (compared?.from, compared?.to)
            form.choice(
                CatalogWords.from[language],
                "from",
                options,
                (from ?? versions[1].sequence).description
            )
            form.choice(
                CatalogWords.to[language],
                "to",
                options,
                (to ?? versions[0].sequence).description
            )
            form.element("button") { $0.write(CatalogWords.compare[language]) }
        }
    }
}

/// A catalog that is tried: what is wrong with it, what differs, who gains and who loses.
package struct CatalogDraftPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// The text that was sent.
    package var text: String
    /// From when on it would hold; nil: from when it is published.
    package var effective: String?
    /// What is wrong and what is doubtful.
    package var validation: CatalogValidationAnswer
    /// What differs from the catalog in force; nil: something is wrong.
    package var difference: CatalogDifference?
    /// Who gains and who loses; nil: something is wrong, or it is not for whoever looks.
    package var affected: WhatIfAnswer?
    /// Where it is tried again, and what forms send back.
    package var again: String
    /// Where it is published, and under which id; nil: not by whoever looks.
    package var publish: (path: String, id: String)?
    /// What forms send back.
    package var token: String
    /// The page of a customer; nil: not for whoever looks.
    package var customer: @Sendable (String) -> String?

    /// Names what the page shows.
    package init(
        language: Language,
        text: String,
        effective: String?,
        validation: CatalogValidationAnswer,
        again: String,
        token: String,
        customer: @escaping @Sendable (String) -> String?
    ) {
        self.language = language
        self.text = text
        self.effective = effective
        self.validation = validation
        self.again = again
        self.token = token
        self.customer = customer
    }

    /// The title of the page.
    package var title: String { CatalogWords.another[language] }

    /// Who stands in the page of those who gain or lose.
    private static let entryLimit = 100

    /// Writes the page.
    package func write(to page: inout XMLText) {
        writeValidation(to: &page)
        if let difference {
            page.card(CatalogWords.difference[language]) { $0.difference(difference) }
        }
        if let affected { page.card(CatalogWords.affected[language]) { write(affected, to: &$0) } }
        if let publish, validation.isOK {
            page.element("section", ["class": "card banner"]) { page in
                page.element("h2") { $0.write(CatalogWords.publish[language]) }
                page.element("p") { $0.write(CatalogWords.publishes[language]) }
                page.element("form", ["method": "post", "action": publish.path]) { form in
                    form.formToken(token)
                    form.keep("request", publish.id)
                    form.keep("effective", effective)
                    form.keep("document", text)
                    form.element("button", ["class": "primary"]) {
                        $0.write(CatalogWords.publish[language])
                    }
                }
            }
        }
        page.card(CatalogWords.edit[language]) { page in
            page.catalogForm(again, token, text, effective, language)
        }
    }

    private func writeValidation(to page: inout XMLText) {
        let style = validation.isOK ? "ok" : "bad"
        page.element("section", ["class": "card answer " + style, "role": "status"]) { page in
            page.element("p", ["class": "sentence"]) { page in
                let words = validation.isOK ? CatalogWords.valid : CatalogWords.invalid
                page.write(words[language])
            }
            let faults = validation.faults.map { ($0, PageCell.Mark.bad) }
            let doubts = validation.warnings.map { ($0, PageCell.Mark.warn) }
            guard !(faults + doubts).isEmpty else { return }
            page.rows(
                CatalogWords.faults[language],
                [CatalogWords.code, HealthWords.place, HealthWords.what]
                    .map { PageColumn($0[language]) },
                (faults + doubts).map { fault, mark in
                    [
                        PageCell.code(fault.code).marked(mark), .code(fault.path),
                        .english(fault.detail),
                    ]
                },
                empty: ""
            )
        }
    }

    private func write(_ affected: WhatIfAnswer, to page: inout XMLText) {
        page.element("div", ["class": "figures"]) { page in
            page.figure(CatalogWords.customers[language], String(affected.customers), nil)
            page.figure(CatalogWords.gaining[language], String(affected.gaining), nil)
            page.figure(CatalogWords.losing[language], String(affected.losing), nil)
        }
        page.rows(
            CatalogWords.features[language],
            [
                PageColumn(CatalogWords.feature[language]),
                .number(CatalogWords.gaining[language]), .number(CatalogWords.losing[language]),
            ],
            affected.features.map { [.code($0.id), .number($0.gaining), .number($0.losing)] },
            empty: CatalogWords.nobody[language]
        )
        for (words, entries) in [
            (CatalogWords.losses, affected.losses), (CatalogWords.gains, affected.gains),
        ] where !entries.isEmpty {
            page.element("h3") { $0.write(words[language]) }
            page.rows(
                words[language],
                [
                    PageColumn(EventWords.customer[language]),
                    PageColumn(CatalogWords.feature[language]),
                    PageColumn(CatalogWords.reason[language]),
                ],
                entries.prefix(Self.entryLimit).map { entry in
                    [
                        PageCell.code(entry.customer).leading(to: customer(entry.customer)),
                        .code(entry.feature), .code(entry.reason.rawValue),
                    ]
                },
                empty: ""
            )
        }
    }
}

extension XMLText {
    /// What differs between two catalogs.
    fileprivate mutating func difference(_ difference: CatalogDifference) {
        element("pre", ["lang": "en", "tabindex": "0"]) {
            $0.write(difference.textLines.joined(separator: "\n"))
        }
    }

    /// A form that takes a catalog as text; a script takes a file, too.
    fileprivate mutating func catalogForm(
        _ path: String,
        _ token: String,
        _ text: String,
        _ effective: String?,
        _ language: Language
    ) {
        element("form", ["class": "stack", "method": "post", "action": path]) { form in
            form.formToken(token)
            form.element("div", ["hidden": "hidden", "data-script": "file"]) { part in
                part.element("label", ["for": "f-file"]) { $0.write(CatalogWords.file[language]) }
                part.element(
                    "input",
                    [
                        "type": "file", "id": "f-file", "accept": "application/json",
                        "data-into": "f-document",
                    ]
                )
            }
            form.element("div") { part in
                part.element("label", ["for": "f-document"]) {
                    $0.write(CatalogWords.document[language])
                }
                part.element(
                    "textarea",
                    [
                        "id": "f-document", "name": "document", "rows": "16", "class": "text mono",
                        "spellcheck": "false", "required": "required",
                    ]
                ) { $0.write(text) }
            }
            form.input(
                CatalogWords.effective[language],
                "effective",
                effective,
                hint: "2026-01-31T00:00:00Z"
            )
            form.element("p") { page in
                page.element("button", ["class": "primary"]) {
                    $0.write(CatalogWords.check[language])
                }
            }
        }
    }
}
