// One conversation: its title and when it last changed; a menu with what can be done to it. The first one of a
// group carries the group's heading.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

Item {
    id: root

    required property Session session
    required property string heading
    required property bool current
    required property bool marked
    required property bool renaming
    required property int index
    required property real conversationId
    required property string title
    required property bool pinned
    required property string subtitle
    required property bool answering

    signal chosen
    signal renameWanted
    signal renameEnded

    function openMenu() {
        menu.popup(row, row.width - menu.width, row.height);
    }

    implicitHeight: row.height + (heading.length > 0 ? headingLabel.implicitHeight + 20 : 0)
    onRenamingChanged: {
        if (!renaming)
            return;
        field.text = title;
        field.forceActiveFocus(Qt.OtherFocusReason);
        field.selectAll();
    }
    Component.onCompleted: renamingChanged()

    TextLabel {
        id: headingLabel
        x: 14
        y: 12
        visible: root.heading.length > 0
        text: root.heading.toLocaleUpperCase(Qt.locale())
        color: Theme.faint
        font.pixelSize: Theme.tiny - 0.5
        font.weight: Font.Medium
        font.letterSpacing: 0.8
        Accessible.role: Accessible.Heading
        Accessible.name: root.heading
    }
    T.ItemDelegate {
        id: row
        objectName: "conversationRow"
        x: 10
        anchors.bottom: parent.bottom
        width: parent.width - 20
        implicitHeight: Math.max(48, titleLabel.implicitHeight + subtitleLabel.implicitHeight + 16)
        focusPolicy: Qt.NoFocus
        hoverEnabled: true
        Accessible.name: root.title + ", " + (root.pinned ? qsTr("pinned, %1").arg(root.subtitle) : root.subtitle)
        Accessible.role: Accessible.ListItem
        Accessible.selected: root.current
        onClicked: root.chosen()
        onDoubleClicked: root.renameWanted()

        TapHandler {
            acceptedButtons: Qt.RightButton
            onTapped: root.openMenu()
        }
        Item {
            anchors.fill: parent
            TextLabel {
                id: titleLabel
                x: 10
                y: 6
                width: parent.width - 20 - (moreButton.visible ? 24 : 0)
                visible: !root.renaming
                text: root.title
                elide: Text.ElideRight
                font.weight: root.current ? Font.DemiBold : Font.Medium
                Accessible.ignored: true
            }
            Rectangle {
                id: dot
                x: 10
                anchors.verticalCenter: subtitleLabel.verticalCenter
                visible: root.answering
                width: 7
                height: 7
                radius: 4
                color: Theme.accent
            }
            TextLabel {
                id: subtitleLabel
                anchors.left: parent.left
                anchors.leftMargin: root.answering ? 23 : 10
                anchors.right: parent.right
                anchors.rightMargin: 10
                anchors.bottom: parent.bottom
                anchors.bottomMargin: 7
                text: root.answering ? qsTr("writing…") : root.subtitle
                elide: Text.ElideRight
                color: Theme.faint
                font.pixelSize: Theme.tiny
                Accessible.ignored: true
            }
            LineField {
                id: field
                objectName: "renameField"
                x: 4
                y: 2
                width: parent.width - 8
                implicitHeight: contentHeight + 8
                leftPadding: 6
                visible: root.renaming
                name: qsTr("Title")
                maximumLength: 200
                Keys.onEscapePressed: root.renameEnded()
                onAccepted: {
                    root.session.rename(root.conversationId, text);
                    root.renameEnded();
                }
                onActiveFocusChanged: if (!activeFocus && root.renaming) {
                    root.session.rename(root.conversationId, text);
                    root.renameEnded();
                }
            }
            IconButton {
                id: moreButton
                objectName: "rowMenuButton"
                anchors.right: parent.right
                anchors.rightMargin: 4
                y: 4
                implicitWidth: 24
                implicitHeight: 24
                iconSize: 15
                visible: !root.renaming && (row.hovered || hovered || root.marked || activeFocus || menu.visible)
                name: qsTr("More for “%1”").arg(root.title)
                tip: ""
                iconName: "more"
                onClicked: root.openMenu()
            }
        }
        background: Rectangle {
            radius: 8
            color: root.current ? Theme.raised : row.hovered || root.marked ? Theme.hover : "transparent"
            border.width: root.current ? 1 : 0
            border.color: Theme.line
            FocusRing {
                target: row
                shown: root.marked
                gap: 0
                radius: 8
            }
        }
    }
    PopupMenu {
        id: menu
        title: qsTr("Conversation")
        MenuEntry {
            objectName: "menuPin"
            label: root.pinned ? qsTr("Unpin") : qsTr("Pin")
            iconName: "pin"
            onTriggered: root.session.setPinned(root.conversationId, !root.pinned)
        }
        MenuEntry {
            objectName: "menuRename"
            label: qsTr("Rename")
            iconName: "rename"
            keys: qsTr("F2")
            onTriggered: root.renameWanted()
        }
        MenuEntry {
            objectName: "menuDelete"
            label: qsTr("Delete")
            iconName: "delete"
            keys: qsTr("Del")
            danger: true
            onTriggered: root.session.remove(root.conversationId)
        }
    }
}
