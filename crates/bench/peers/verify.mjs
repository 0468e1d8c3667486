// Verifies tokens for some seconds: node verify.mjs LIBRARY DIRECTORY ALGORITHM SECONDS
//   tokens: one a line; jwk.json: the public key. Prints operations a second.
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [library, directory, algorithm, seconds] = process.argv.slice(2);
const { resolve } = createRequire(join(process.cwd(), 'package.json'));
const load = (name) => import(pathToFileURL(resolve(name)));
const tokens = readFileSync(join(directory, 'tokens'), 'utf8').trim().split('\n');
const key = createPublicKey({ key: JSON.parse(readFileSync(join(directory, 'jwk.json'))), format: 'jwk' });
const issuer = 'https://id.example.com';
const audience = 'https://orders.example.com';

const verifiers = {
  async jose() {
    const { jwtVerify } = await load('jose');
    return (token) => jwtVerify(token, key, { issuer, audience, algorithms: [algorithm], typ: 'at+jwt' });
  },
  async jsonwebtoken() {
    const { default: { verify } } = await load('jsonwebtoken');
    return (token) => verify(token, key, { issuer, audience, algorithms: [algorithm] });
  },
};

const verify = await verifiers[library]();
const run = async (milliseconds) => {
  const begun = performance.now();
  let count = 0;
  while (performance.now() - begun < milliseconds) {
    for (let n = 0; n < 16; n += 1) await verify(tokens[(count + n) % tokens.length]);
    count += 16;
  }
  return count / ((performance.now() - begun) / 1000);
};
await run(Number(seconds) * 500);
console.log(await run(Number(seconds) * 1000));
