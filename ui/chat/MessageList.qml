// The messages. While an answer is written the view follows its end until the reader scrolls away; then the
// place he reads stays where it is until he comes back to the end or asks for it.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Markdown
import Tandem.Models
import Tandem.Theme

Item {
    id: root

    required property Session session
    property bool following: true
    readonly property real nearEnd: 40
    readonly property real notch: 4 * 22 * Theme.textScale // one notch of a wheel: some four lines
    readonly property bool awayFromEnd: list.count > 0 && list.endDistance > nearEnd

    function followEnd() {
        following = true;
        list.toEnd();
    }
    function scrollPages(pages: real) {
        scrollBy(pages * list.height * 0.9);
    }
    // Moves the view down by so many pixels. Wheels come here too: the list's own swing is broken off whenever its
    // estimated height changes, which while an answer grows is always.
    function scrollBy(pixels: real) {
        list.cancelFlick();
        if (pixels > 0 && list.endDistance - pixels < nearEnd) {
            followEnd();
            return;
        }
        following = false;
        list.contentY = Math.max(list.originY - list.topMargin, list.contentY + pixels);
    }

    MessagePalette {
        id: messageColors
        dark: Theme.dark
        text: Theme.text
        mutedText: Theme.faint
        link: Theme.accentInk
        border: Theme.line
        codeBackground: Theme.sunken
        focus: Theme.focus
        origins: Theme.originTints
    }

    ListView {
        id: list
        objectName: "messageList"

        // How far the end of the last message is below the view's lower edge. contentHeight is an estimate, so
        // it is asked of the last delegate itself; while there is none, the end is far away.
        readonly property real endDistance: {
            contentY;
            contentHeight;
            const last = itemAtIndex(count - 1);
            return last ? last.y + last.height + bottomMargin - contentY - height : 1e6;
        }

        function toEnd() {
            cancelFlick(); // what is left of a wheel's swing would pull the view away again
            positionViewAtEnd();
        }
        // Called when the reader has moved the view: at the end it follows again. The end may have moved on a
        // little while he came to it.
        function noticePlace() {
            root.following = endDistance < root.nearEnd;
        }

        anchors.fill: parent
        model: root.session.messages
        clip: true
        spacing: 0
        topMargin: 22
        bottomMargin: 16
        cacheBuffer: 1200
        boundsBehavior: Flickable.StopAtBounds
        activeFocusOnTab: true
        keyNavigationEnabled: false
        currentIndex: -1
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Messages")
        Keys.onUpPressed: root.scrollPages(-0.12)
        Keys.onDownPressed: root.scrollPages(0.12)
        Keys.onPressed: event => {
            if (event.key === Qt.Key_PageUp)
                root.scrollPages(-1);
            else if (event.key === Qt.Key_PageDown)
                root.scrollPages(1);
            else if (event.key === Qt.Key_Home) {
                root.following = false;
                list.positionViewAtBeginning();
                list.contentY = list.originY - list.topMargin;
            }
            else if (event.key === Qt.Key_End)
                root.followEnd();
            else
                return;
            event.accepted = true;
        }

        onContentHeightChanged: if (root.following)
            toEnd()
        onHeightChanged: if (root.following)
            toEnd()
        onDraggingChanged: if (dragging)
            root.following = false
        onMovementEnded: if (!root.following)
            noticePlace()

        T.ScrollBar.vertical: ScrollHandle {
            id: bar
            parent: root
            x: root.width - width
            height: root.height
            onPressedChanged: {
                if (pressed)
                    root.following = false;
                else
                    list.noticePlace();
            }
        }
        WheelHandler {
            target: null
            acceptedDevices: PointerDevice.Mouse | PointerDevice.TouchPad
            onWheel: event => root.scrollBy(event.pixelDelta.y !== 0 ? -event.pixelDelta.y
                                                                      : -event.angleDelta.y / 120 * root.notch)
        }
        delegate: MessageRow {
            width: ListView.view.width
            session: root.session
            palette: messageColors
            last: index === list.count - 1
            onLinkActivated: url => linkPrompt.ask(url)
        }
        FocusRing {
            target: list
            shown: list.Window.activeFocusItem === list
            gap: -2
            radius: 4
        }
    }
    LinkPrompt {
        id: linkPrompt
        onCopyWanted: text => root.session.copyText(text)
    }
    T.Button {
        id: jump
        objectName: "jumpToLatest"
        anchors.horizontalCenter: parent.horizontalCenter
        anchors.bottom: parent.bottom
        anchors.bottomMargin: 8
        visible: !root.following && root.awayFromEnd
        implicitWidth: implicitContentWidth + 28
        implicitHeight: Math.max(34, implicitContentHeight + 14)
        focusPolicy: Qt.StrongFocus
        hoverEnabled: true
        Accessible.name: qsTr("Jump to latest")
        Keys.onReturnPressed: jump.clicked()
        onClicked: root.followEnd()
        contentItem: Item {
            implicitWidth: children[0].implicitWidth
            implicitHeight: children[0].implicitHeight
            Row {
                anchors.centerIn: parent
                spacing: 6
                Icon {
                    anchors.verticalCenter: parent.verticalCenter
                    width: 15
                    height: 15
                    name: "down"
                    color: Theme.accent
                }
                TextLabel {
                    anchors.verticalCenter: parent.verticalCenter
                    text: qsTr("Jump to latest")
                    font.pixelSize: Theme.small
                    font.weight: Font.Medium
                    Accessible.ignored: true
                }
            }
        }
        background: Rectangle {
            radius: height / 2
            color: jump.hovered ? Theme.hover : Theme.raised
            border.color: Theme.control
            FocusRing {
                target: jump
                shown: jump.visualFocus
                radius: height / 2
            }
        }
    }
    Connections {
        target: root.session.chat
        function onOpened() {
            root.following = true;
        }
        function onShowMessage(message: real) {
            const row = root.session.messages.rowOf(message);
            if (row >= 0) {
                root.following = false;
                list.positionViewAtIndex(row, ListView.Beginning);
            }
        }
    }
}
