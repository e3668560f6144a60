// What a message's list of blocks knows of one block; BlockDelegate draws it. Internal to MessageBody.
import QtQuick

Item {
    required property MessageStyle style
    required property int index
    required property int kind
    required property int level
    required property string containers
    required property int shared
    required property string marker
    required property int task
    required property string language
    required property bool continues
    required property bool continued
    required property bool tight
    required property bool wrap
    required property int revision

    readonly property real em: style.textSize
    readonly property real quoteIndent: Math.round(em * 1.1)
    readonly property real listIndent: Math.round(em * 1.7)
    property real gap
    property bool mirrored

    function indentOf(depth: int): real {
        let sum = 0;
        for (let i = 0; i < depth; ++i)
            sum += containers[i] === "Q" ? quoteIndent : listIndent;
        return sum;
    }
}
