/** Lark grammar of a patch, for APIs that constrain the output of a model. */
export const patchGrammar = `start: "*** Begin Patch" LF section+ "*** End Patch" LF?
section: add | delete | update
add: "*** Add File: " name LF ("+" text LF)+
delete: "*** Delete File: " name LF
update: "*** Update File: " name LF ("*** Move to: " name LF)? change?
change: (context | line)+ ("*** End of File" LF)?
context: "@@" (" " name)? LF
line: ("+" | "-" | " ") text LF
name: /(.+)/
text: /(.*)/
%import common.LF
`
