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

    ListView {
        id: list
        objectName: "searchResults"

        function openCurrent() {
            const item = currentItem as T.ItemDelegate;
            if (item)
                item.click();
        }

        anchors.fill: parent
        model: root.session.found
        clip: true
        focus: true
        activeFocusOnTab: count > 0
        boundsBehavior: Flickable.StopAtBounds
        bottomMargin: 14
        spacing: 2
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Search results")
        Keys.onReturnPressed: openCurrent()
        Keys.onEnterPressed: openCurrent()
        T.ScrollBar.vertical: ScrollHandle {}
        header: Item {
            width: ListView.view.width
            height: summary.implicitHeight + 18
            TextLabel {
                id: summary
                objectName: "searchSummary"
                x: 14
                anchors.bottom: parent.bottom
                anchors.bottomMargin: 5
                width: parent.width - 28
                wrapMode: Text.Wrap
                text: !root.session.found.settled ? qsTr("Searching…")
                                                  : root.session.found.count === 0 ? qsTr("Nothing found.")
                                                                                   : qsTr("%n found", "", root.session.found.count)
                color: Theme.faint
                font.pixelSize: Theme.tiny
                font.weight: Font.Medium
            }
        }
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
            implicitHeight: texts.height + 16
            focusPolicy: Qt.NoFocus
            hoverEnabled: true
            Accessible.name: qsTr("%1: %2").arg(title).arg(snippet)
            Accessible.role: Accessible.ListItem
            onClicked: {
                list.currentIndex = index;
                root.session.chat.openAt(conversationId, messageId);
                root.opened();
            }
            contentItem: Item {
                Column {
                    id: texts
                    x: 10
                    y: 8
                    width: parent.width - 20
                    spacing: 3
                    Item {
                        width: parent.width
                        height: name.implicitHeight
                        TextLabel {
                            id: name
                            width: parent.width - whenLabel.width - 8
                            text: hit.title
                            elide: Text.ElideRight
                            font.weight: Font.Medium
                            Accessible.ignored: true
                        }
                        TextLabel {
                            id: whenLabel
                            anchors.right: parent.right
                            anchors.baseline: name.baseline
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
