import QtQuick
import QtTest
import Tandem.Markdown

Item {
    id: root

    width: 600
    height: 500

    MarkdownMessage {
        id: message
    }

    MessageBody {
        id: body

        width: root.width
        message: message
    }

    SignalSpy {
        id: links

        target: body
        signalName: "linkActivated"
    }

    SignalSpy {
        id: copies

        target: body
        signalName: "copyRequested"
    }

    TestCase {
        name: "MessageBody"
        when: windowShown

        // All items below `item` for which `accept` is true, from top to bottom.
        function find(item, accept) {
            let found = [];
            for (let i = 0; i < item.children.length; ++i) {
                const child = item.children[i];
                if (accept(child))
                    found.push(child);
                found = found.concat(find(child, accept));
            }
            return found;
        }

        function edits() {
            return find(body, item => item instanceof TextEdit);
        }

        function buttons() {
            return find(body, item => item.toString().startsWith("PlainButton"));
        }

        function init() {
            message.plain = false;
            message.clear();
            tryCompare(body, "implicitHeight", 0);
            body.textSize = 15;
            body.y = 0;
            links.clear();
            copies.clear();
        }

        function test_heightFollowsWidth() {
            message.text = "Some words that fill more than one line when the message is narrow. ".repeat(5);
            tryVerify(() => body.implicitHeight > 30);
            const wide = body.implicitHeight;
            body.width = 200;
            tryVerify(() => body.implicitHeight > wide * 2);
            body.width = root.width;
            tryCompare(body, "implicitHeight", wide);
        }

        function test_textSize() {
            message.text = "# Title\n\ntext `code`\n\n```c\nint a;\n```\n";
            tryVerify(() => body.implicitHeight > 80);
            const before = body.implicitHeight;
            body.textSize = 24;
            tryVerify(() => body.implicitHeight > before * 1.3);
        }

        function test_copyButton() {
            message.text = "a\n\n```py\nx = 1\n\n  y = \"ä\"\n```\n\n```\nsecond\n```\n";
            const copy = buttons().filter(button => button.visible);
            compare(copy.length, 2);
            tryVerify(() => body.implicitHeight > 100);
            compare(copy[0].Accessible.name, "Copy code");
            mouseClick(copy[0]);
            compare(copies.count, 1);
            compare(copies.signalArguments[0][0], "x = 1\n\n  y = \"ä\"");
            compare(copy[0].text, "Copied");
            copy[1].forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Space);
            compare(copies.signalArguments[1][0], "second");
            tryCompare(copy[0], "text", "Copy", 4000);
        }

        function test_linkByMouse() {
            message.text = "[click](https://example.org/a?b=c) and text";
            const edit = edits()[0];
            tryVerify(() => body.implicitHeight > 0);
            mouseMove(edit, 10, 8);
            tryCompare(body, "hoveredLink", "https://example.org/a?b=c");
            mouseClick(edit, 10, 8);
            compare(links.count, 1);
            compare(links.signalArguments[0][0], "https://example.org/a?b=c");
            mouseClick(edit, 90, 8);
            compare(links.count, 1);
        }

        function test_linkByKeyboard() {
            message.text = "text\n\n[one](http://one.org), [two](http://two.org)";
            compare(edits()[0].activeFocusOnTab, false);
            const edit = edits()[1];
            compare(edit.activeFocusOnTab, true);
            edit.forceActiveFocus(Qt.TabFocusReason);
            compare(edit.selectedText, "one");
            keyClick(Qt.Key_Right);
            compare(edit.selectedText, "two");
            keyClick(Qt.Key_Return);
            compare(links.count, 1);
            compare(links.signalArguments[0][0], "http://two.org");
        }

        function test_onlySafeLinks() {
            message.text = "[a](javascript:x) [b](file:///etc/passwd) [c](qrc:/x) [d](data:text/html,x)";
            const edit = edits()[0];
            compare(edit.activeFocusOnTab, false);
            for (let x = 2; x < edit.width; x += 12)
                mouseClick(edit, x, 8);
            compare(links.count, 0);
        }

        function test_selection() {
            message.text = "first words\n\nsecond words";
            const [first, second] = edits();
            tryVerify(() => body.implicitHeight > 40);
            mouseDoubleClickSequence(first, 8, 8);
            compare(body.hasSelection, true);
            compare(body.selectedText(), "first");
            mouseDoubleClickSequence(second, 8, 8);
            compare(body.selectedText(), "second");
            compare(first.selectedText, "");
            body.clearSelection();
            compare(body.hasSelection, false);
            first.select(0, 3);
            compare(body.hasSelection, true);
            message.clear();
            tryCompare(body, "hasSelection", false);
        }

        function test_htmlIsText() {
            message.text = "Use std::vector<int> for it. <b>x</b> &lt;";
            compare(edits()[0].text, "Use std::vector<int> for it. <b>x</b> <");
        }

        function test_spokenText() {
            message.append("# Title\n\nWhat is **wri");
            compare(edits()[0].Accessible.name, "Title");
            compare(edits()[1].Accessible.name, "");
            message.append("tten**");
            message.finish();
            compare(edits()[1].Accessible.name, "What is written");
        }

        function test_blockChangesItsKind() {
            message.append("Title");
            compare(edits()[0].font.pixelSize, 15);
            message.append("\n===\n");
            verify(edits()[0].font.pixelSize > 18);
            message.append("a | b\n");
            compare(edits()[1].text, "a | b");
            message.append("--- | ---\n1 | 2\n");
            verify(edits()[1].text.includes("b"));
            verify(!edits()[1].text.includes("|"));
        }

        function test_showMore() {
            message.text = "A paragraph of words.\n\n".repeat(15000);
            const more = buttons().filter(button => button.text.startsWith("Show more"))[0];
            verify(more.visible);
            const before = message.hiddenBytes;
            more.forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Space);
            verify(message.hiddenBytes < before);
        }

        // What is far from the window costs its frames nothing, and is there when it comes near.
        function test_onlyWhatIsNearIsShown() {
            message.text = "A paragraph.\n\n```c\nint code;\n```\n\n".repeat(100);
            const isRight = () => {
                const blocks = find(body, item => item.toString().startsWith("BlockDelegate"));
                let y = 0;
                return blocks.length === 200 && blocks.every(block => {
                    const placed = block.y === y;
                    y += block.height;
                    const top = block.mapToItem(root, 0, 0).y;
                    const inside = top < root.height && top + block.height > 0;
                    const far = top > 3 * root.height || top + block.height < -2 * root.height;
                    return placed && !(inside && !block.visible) && !(far && block.visible);
                }) && body.height === y;
            };
            tryVerify(isRight);
            const height = body.height;
            for (const y of [-700, -4000, root.height - height, -2000, 0]) {
                body.y = y;
                tryVerify(isRight);
                compare(body.height, height);
            }
        }

        function test_plain() {
            message.plain = true;
            message.text = "# as *typed*\n- <i>";
            compare(edits().length, 1);
            compare(edits()[0].text, "# as *typed*\n- <i>");
            verify(body.naturalWidth > 50 && body.naturalWidth < 200);
        }

        function test_codeScrollsSideways() {
            message.text = "```\n" + "x".repeat(300) + "\nshort\n```\n";
            const view = find(body, item => item instanceof Flickable)[0];
            verify(view.contentWidth > view.width);
            const edit = edits()[0];
            edit.forceActiveFocus();
            edit.cursorPosition = 300;
            verify(view.contentX > 100);
            edit.cursorPosition = 0;
            verify(view.contentX < 4);
        }

        function test_messageMayBeNull() {
            body.message = null;
            tryCompare(body, "implicitHeight", 0);
            body.message = message;
        }
    }
}
