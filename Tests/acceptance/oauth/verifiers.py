"""Third-party libraries that check the tokens with the published keys."""

import json

import jwcrypto.jwk
import jwcrypto.jwt
import jwt
from joserfc import jwk as joserfc_jwk
from joserfc import jwt as joserfc_jwt


def check(issuer, client, access_token, id_token):
    published = issuer.document(issuer.issuer + "/keys")
    for text, audience, kind in ((access_token, issuer.url, "at+jwt"), (id_token, client, "JWT")):
        if text is None:
            continue
        header = jwt.get_unverified_header(text)
        assert header["typ"] == kind, header
        key, = [key for key in published["keys"] if key["kid"] == header["kid"]]
        claims = jwt.decode(
            text, jwt.PyJWK(key), algorithms=[header["alg"]], audience=audience, issuer=issuer.issuer,
            options={"require": ["exp", "iat", "sub"]})
        assert claims["sub"] and claims["sub"] != client, claims
        decoded = joserfc_jwt.decode(text, joserfc_jwk.KeySet.import_key_set(published), algorithms=[header["alg"]])
        assert decoded.claims == claims, decoded.claims
        token = jwcrypto.jwt.JWT(algs=[header["alg"]])
        token.deserialize(text, jwcrypto.jwk.JWKSet.from_json(json.dumps(published)))
        if kind == "at+jwt":
            assert claims["client_id"] == client and claims["jti"], claims
