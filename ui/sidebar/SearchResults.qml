// What the search found: the conversation's title and the text around the match.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

FocusScope {
    id: root

    required property Session session

    signal opened

    TextLabel {
        id: summary
        objectName: "searchSummary"
        x: 20
        y: 4
        width: parent.width - 40
        wrapMode: Text.Wrap
        text: !root.session.found.settled ? qsTr("Searching…")
                                          : root.session.found.count === 0 ? qsTr("Nothing found.")
                                                                           : qsTr("%1 found").arg(root.session.found.count)
        color: Theme.faint
        font.pixelSize: Theme.tiny
        font.weight: Font.Medium
    }
    ListView {
        id: list
        objectName: "searchResults"

        function openCurrent() {
            const item = currentItem as T.ItemDelegate;
            if (item)
                item.clicked();
        }

        anchors.top: summary.bottom
        anchors.topMargin: 6
        anchors.bottom: parent.bottom
        width: parent.width
        model: root.session.found
        clip: true
        focus: true
        activeFocusOnTab: true
        boundsBehavior: Flickable.StopAtBounds
        bottomMargin: 14
        spacing: 2
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Search results")
        onActiveFocusChanged: if (activeFocus && currentIndex < 0)
            currentIndex = 0
        Keys.onReturnPressed: openCurrent()
        Keys.onEnterPressed: openCurrent()
        T.ScrollBar.vertical: ScrollHandle {}
        delegate: T.ItemDelegate {
            id: hit
            required property int index
            required property real conversationId
            required property real messageId
            required property string title
            required property string snippet
            required property string when
            objectName: "searchHit"
            x: 10
            width: ListView.view.width - 20
            implicitHeight: implicitContentHeight + 16
            focusPolicy: Qt.NoFocus
            hoverEnabled: true
            Accessible.name: title + ": " + snippet
            Accessible.role: Accessible.ListItem
            onClicked: {
                list.currentIndex = index;
                root.session.chat.openAt(conversationId, messageId);
                root.opened();
            }
            contentItem: Item {
                implicitHeight: children[0].height
                Column {
                    x: 10
                    y: 8
                    width: parent.width - 20
                    spacing: 3
                    Item {
                        width: parent.width
                        height: children[0].height
                        TextLabel {
                            width: parent.width - 74
                            text: hit.title
                            elide: Text.ElideRight
                            font.weight: Font.Medium
                            Accessible.ignored: true
                        }
                        TextLabel {
                            anchors.right: parent.right
                            y: 2
                            text: hit.when
                            color: Theme.faint
                            font.pixelSize: Theme.tiny
                            Accessible.ignored: true
                        }
                    }
                    TextLabel {
                        width: parent.width
                        visible: text.length > 0
                        text: hit.snippet
                        wrapMode: Text.Wrap
                        maximumLineCount: 3
                        elide: Text.ElideRight
                        color: Theme.muted
                        font.pixelSize: Theme.small
                        Accessible.ignored: true
                    }
                }
            }
            background: Rectangle {
                radius: 8
                color: hit.hovered || hit.ListView.isCurrentItem && list.activeFocus ? Theme.hover : "transparent"
                FocusRing {
                    target: hit
                    shown: hit.ListView.isCurrentItem && list.activeFocus
                    gap: 0
                    radius: 8
                }
            }
        }
    }
}
