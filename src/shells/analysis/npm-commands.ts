const commands = new Set(
  `access adduser approve-scripts audit bugs cache ci completion config dedupe deny-scripts deprecate diff dist-tag docs doctor
  edit exec explain explore find-dupes fund get help help-search hook init install install-ci-test install-scripts install-test
  link ll login logout ls org outdated owner pack ping pkg prefix profile prune publish query rebuild repo restart root run
  sbom search set shrinkwrap stage star stars start stop team test token trust undeprecate uninstall unpublish unstar update
  version view whoami`.split(/\s+/),
)

const aliases: ReadonlyMap<string, string> = new Map(
  `author=owner home=docs issues=bugs info=view show=view find=search add=install unlink=uninstall remove=uninstall
  rm=uninstall r=uninstall un=uninstall rb=rebuild list=ls ln=link create=init i=install it=install-test
  cit=install-ci-test u=update up=update c=config s=search se=search tst=test t=test ddp=dedupe v=view run-script=run
  clean-install=ci clean-install-test=install-ci-test x=exec why=explain la=ll verison=version ic=ci innit=init in=install
  ins=install inst=install insta=install instal=install isnt=install isnta=install isntal=install isntall=install
  install-clean=ci isntall-clean=ci hlep=help dist-tags=dist-tag upgrade=update udpate=update rum=run
  sit=install-ci-test urn=run ogr=org add-user=adduser`
    .split(/\s+/)
    .map((pair) => pair.split('=') as [string, string]),
)

const names = [...commands, ...aliases.keys()]

/**
 * Returns the commands for which npm may take a word: the one of that name or alias, or each that it abbreviates; without any,
 * the word itself. Like npm, reads `runScript` as `run-script`.
 */
export function npmCommands(word: string): readonly string[] {
  const name = word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const known = commands.has(name) ? name : aliases.get(name)
  if (known !== undefined) return [known]
  const abbreviated = name === '' ? [] : names.filter((each) => each.startsWith(name))
  return abbreviated.length === 0 ? [word] : [...new Set(abbreviated.map((each) => aliases.get(each) ?? each))]
}
