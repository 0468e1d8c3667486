// `client_credentials` with client_secret_basic, JWT access tokens signed with ES256:
//   node provider.mjs DIRECTORY     (chain.pem, key.pem and signing.pem lie there; writes `port`)
import { createPrivateKey } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const directory = process.argv[2];
const { resolve } = createRequire(join(process.cwd(), 'package.json'));
const { default: Provider } = await import(pathToFileURL(resolve('oidc-provider')));

const file = (name) => readFileSync(join(directory, name));
const signing = createPrivateKey(file('signing.pem')).export({ format: 'jwk' });
const server = createServer({ cert: file('chain.pem'), key: file('key.pem'), minVersion: 'TLSv1.3' });
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const resource = {
    scope: '',
    audience: 'https://orders.example.com',
    accessTokenFormat: 'jwt',
    accessTokenTTL: 3600,
    jwt: { sign: { alg: 'ES256' } },
  };
  const provider = new Provider(`https://localhost:${port}`, {
    clients: [{
      client_id: 'bench',
      client_secret: 'a secret of sixty-four bytes that nobody but the two of them has',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: 'ES256',
    }],
    jwks: { keys: [{ ...signing, alg: 'ES256', use: 'sig', kid: 'k1' }] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource.audience,
        getResourceServerInfo: () => resource,
        useGrantedResource: () => true,
      },
    },
  });
  server.on('request', provider.callback());
  writeFileSync(join(directory, 'port.new'), String(port));
  renameSync(join(directory, 'port.new'), join(directory, 'port'));
});
