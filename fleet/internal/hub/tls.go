package hub

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"time"
)

// authority signs the certificate of a hub. Machines know it from their token.
type authority struct {
	Certificate []byte // PEM
	Key         []byte // PEM
}

const tenYears = 10 * 365 * 24 * time.Hour

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: serial(), Subject: pkix.Name{CommonName: "tenterhook hub authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(2 * tenYears),
		IsCA: true, MaxPathLenZero: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	return &authority{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})}, err
}

func serial() *big.Int {
	n, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // never fails
	return n
}

// fingerprint names the authority's certificate, in 32 bytes.
func (a *authority) fingerprint() []byte {
	block, _ := pem.Decode(a.Certificate)
	if block == nil {
		return make([]byte, sha256.Size)
	}
	return fingerprintOf(block.Bytes)
}

func fingerprintOf(der []byte) []byte {
	sum := sha256.Sum256(der)
	return sum[:]
}

// server makes a certificate for names and addresses, and the configuration of who
// listens with it. The chain has the authority's certificate at its end.
func (a *authority) server(hosts []string) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(a.Certificate, a.Key)
	if err != nil {
		return nil, err
	}
	ca, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: serial(), Subject: pkix.Name{CommonName: "tenterhook hub"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(tenYears),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, &key.PublicKey, pair.PrivateKey)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der, ca.Raw}, PrivateKey: key}}}, nil
}

// pinned is the configuration of who knows nothing of a hub but the fingerprint of
// its authority.
func pinned(fingerprint []byte, host string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, VerifyConnection: func(s tls.ConnectionState) error { // stricter than what is skipped
		ca := s.PeerCertificates[len(s.PeerCertificates)-1]
		if subtle.ConstantTimeCompare(fingerprintOf(ca.Raw), fingerprint) != 1 {
			return errors.New("it is another hub than the token is of")
		}
		roots := x509.NewCertPool()
		roots.AddCert(ca)
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: host})
		return err
	}}
}
