extension XMLText {
    /// The frame of a chart on a page: it is scrolled where the window is narrow, and says in words what is in it.
    ///
    /// `id`: unique on its page. It is a group, not an image, as parts of it may be links.
    mutating func chart(
        _ id: String,
        _ title: String,
        _ summary: String,
        height: Int,
        _ body: (inout XMLText) -> Void
    ) {
        element(
            "div",
            ["class": "wide", "tabindex": "0", "role": "group", "aria-label": title]
        ) { page in
            page.element(
                "svg",
                [
                    "class": "chart", "role": "group", "viewBox": "0 0 960 \(height)",
                    "aria-labelledby": id + "-title", "aria-describedby": id + "-desc",
                ]
            ) { svg in
                svg.element("title", ["id": id + "-title"]) { $0.write(title) }
                svg.element("desc", ["id": id + "-desc"]) { $0.write(summary) }
                body(&svg)
            }
        }
    }
}
