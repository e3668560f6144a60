// One conversation: its title and when it last changed; a menu with what can be done to it.
import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

T.ItemDelegate {
    id: row

    required property Session session
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

    objectName: "conversationRow"
    implicitHeight: Math.max(48, titleLabel.implicitHeight + subtitleLabel.implicitHeight + 15)
    focusPolicy: Qt.NoFocus
    hoverEnabled: true
    Accessible.name: pinned ? qsTr("%1, pinned, %2").arg(title).arg(subtitle) : qsTr("%1, %2").arg(title).arg(subtitle)
    Accessible.role: Accessible.ListItem
    Accessible.selected: current
    onClicked: chosen()
    onDoubleClicked: renameWanted()
    onRenamingChanged: {
        if (!renaming)
            return;
        field.text = title;
        field.forceActiveFocus(Qt.OtherFocusReason);
        field.selectAll();
    }
    Component.onCompleted: renamingChanged()

    TapHandler {
        acceptedButtons: Qt.RightButton
        onTapped: row.openMenu()
    }
    contentItem: Item {
        TextLabel {
            id: titleLabel
            x: 10
            y: 6
            width: parent.width - 20 - (moreButton.visible ? 24 : 0)
            visible: !row.renaming
            text: row.title
            elide: Text.ElideRight
            font.weight: row.current ? Font.DemiBold : Font.Medium
            Accessible.ignored: true
        }
        Rectangle {
            id: dot
            x: 10
            anchors.verticalCenter: subtitleLabel.verticalCenter
            visible: row.answering
            width: 7
            height: 7
            radius: 4
            color: Theme.accent
        }
        TextLabel {
            id: subtitleLabel
            anchors.left: parent.left
            anchors.leftMargin: row.answering ? 23 : 10
            anchors.right: parent.right
            anchors.rightMargin: 10
            anchors.bottom: parent.bottom
            anchors.bottomMargin: 7
            text: row.answering ? qsTr("writing…") : row.subtitle
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
            visible: row.renaming
            name: qsTr("Title")
            maximumLength: 200
            Keys.onEscapePressed: row.renameEnded()
            onAccepted: {
                row.session.rename(row.conversationId, text);
                row.renameEnded();
            }
            onActiveFocusChanged: if (!activeFocus && row.renaming) {
                row.session.rename(row.conversationId, text);
                row.renameEnded();
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
            visible: !row.renaming && (row.hovered || hovered || row.marked || activeFocus || menu.visible)
            name: qsTr("More for “%1”").arg(row.title)
            tip: ""
            iconName: "more"
            onClicked: row.openMenu()
        }
    }
    background: Rectangle {
        radius: 8
        color: row.current ? Theme.raised : row.hovered || row.marked ? Theme.hover : "transparent"
        border.width: row.current ? 1 : 0
        border.color: Theme.line
        FocusRing {
            target: row
            shown: row.marked
            gap: 0
            radius: 8
        }
    }
    PopupMenu {
        id: menu
        title: qsTr("Conversation")
        MenuEntry {
            objectName: "menuPin"
            label: row.pinned ? qsTr("Unpin") : qsTr("Pin")
            iconName: "pin"
            onTriggered: row.session.setPinned(row.conversationId, !row.pinned)
        }
        MenuEntry {
            objectName: "menuRename"
            label: qsTr("Rename")
            iconName: "rename"
            keys: qsTr("F2")
            onTriggered: row.renameWanted()
        }
        MenuEntry {
            objectName: "menuDelete"
            label: qsTr("Delete")
            iconName: "delete"
            keys: qsTr("Del")
            danger: true
            onTriggered: row.session.remove(row.conversationId)
        }
    }
}
