// A menu of MenuEntry items.
import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

T.Menu {
    id: menu

    implicitWidth: 188
    implicitHeight: contentItem.implicitHeight + topPadding + bottomPadding
    padding: 5
    margins: 6
    modal: false

    contentItem: ListView {
        implicitHeight: contentHeight
        model: menu.contentModel
        interactive: false
        currentIndex: menu.currentIndex
        Accessible.role: Accessible.PopupMenu
        Accessible.name: menu.title
    }
    background: Rectangle {
        radius: 10
        color: Theme.raised
        border.color: Theme.line
    }
}
