/** Secrets in command lines, prompts and tool calls: none that is recognised reaches a record, a commit or a branch. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

const word = 'hunter2secret'
const random = 'q7Xv2Lm9Tz4Kp8Wd3Nb6Rf5Hc1Js0Yg7Qa2Ue'
const hex = '0f1e2d3c4b5a69788796a5b4c3d2e1f0'

/** Usual forms of a secret, each with the part that may not be written down. */
const forms: readonly [said: string, secret: string][] = [
  [`sshpass -p ${word} ssh host`, word],
  [`redis-cli -h cache -a ${word} ping`, word],
  [`docker login -u bob -p ${word} registry.example`, word],
  [`echo ${word} | docker login --password-stdin`, word],
  [`echo ${word} | sudo -S make install`, word],
  [`mysql -h db -p${word} shop`, word],
  [`PGPASSWORD=${word} psql`, word],
  [`mongosh -u bob -p ${word} shop`, word],
  [`ldapsearch -x -w ${word} -b dc=x`, word],
  [`smbclient -U bob%${word} //host/share`, word],
  [`openssl rsa -passin pass:${word} -in k.txt`, word],
  [`zip -P ${word} a.zip b`, word],
  [`aws configure set aws_secret_access_key ${word}`, word],
  [`npm config set //registry.example/:_authToken ${word}`, word],
  [`kubectl create secret generic s --from-literal=pw=${word}`, word],
  [`curl -H 'Cookie: session=${word}' https://host`, word],
  [`got Set-Cookie: sid=${word}; Path=/`, word],
  [`curl -u bob:${word} https://host`, word],
  [`curl -H 'Authorization: Bearer ${random}' x`, random],
  [`git clone https://${random}@github.com/me/shop`, random],
  [`git clone https://bob:${word}@github.com/me/shop`, word],
  [`curl 'https://host/blob?se=1&sig=${random}'`, random],
  [`deploy --token ${word}`, word],
  [`sk_live_${random}`, random],
  [`hf_${'aBcD'.repeat(9)}`, 'aBcDaBcD'],
  [`SG.${random.slice(0, 22)}.${random}`, random],
  [`DefaultEndpointsProtocol=https;AccountKey=${random}${random}==`, random],
  [`pypi-AgEIcHlwaS5vcmc${random}${random}`, random],
  [`-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE${random}\n-----END EC PRIVATE KEY-----`, random],
  [`github_pat_11ABCDEFG0${random}`, random],
  [`glpat-${random}`, random],
  [`AIza${random.slice(0, 35)}`, random.slice(0, 35)],
  [`SK${hex}`, hex],
  [`{"apiKey":"${random}"}`, random],
  [`client_secret := "${random}"`, random],
]

/** Every file below a folder, as text of single bytes. */
function allFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))
}

test('M9: the usual forms of secrets are in no step, no log, no database and no commit', async () => {
  const user = testRepo()
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1' })
  for (const [n, [summary]] of forms.entries()) {
    writeFileSync(path.join(task.path, 'a.txt'), `${n}\n`)
    await repo.checkpoint({ task: 'T1', tool: 'Bash', summary })
  }
  await repo.accept({ task: 'T1', as: 'merge' })
  const told = JSON.stringify([await repo.task('T1').log(), await repo.audit()])
  const commits = user.git('log', '--all', '--format=%B')
  const written = [told, commits, ...allFiles(path.join(user.home, 'state'))]
  const stay = forms.filter(([, secret]) => written.some((text) => text.includes(secret)))
  expect(stay).toEqual([])
})

test('M9: a sentence about secrets is written down as it is', async () => {
  const user = testRepo()
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1' })
  const sentences = [
    'docker run -p 8080:80 shop',
    'mkdir -p a/b',
    'Fix the cookie: banner is hidden',
    'git clone https://git@github.com/me/shop',
    'Add a --token option',
    'set the token of the parser',
    'zip -r a.zip b',
  ]
  for (const [n, summary] of sentences.entries()) {
    writeFileSync(path.join(task.path, 'a.txt'), `${n}\n`)
    await repo.checkpoint({ task: 'T1', tool: 'Bash', summary })
  }
  expect((await repo.task('T1').log()).map(({ summary }) => summary)).toEqual(sentences)
})
