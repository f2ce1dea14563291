# Sourced by the get_*.sh scripts: files out of a Debian package that is downloaded and unpacked, not installed.
# shellcheck shell=bash

# unpack_package PACKAGE FOLDER: the package's files lie in FOLDER/root afterwards.
unpack_package() {
	echo "downloading Debian's $1"
	if ! (cd "$2" && apt-get -qq -o APT::Sandbox::User=root download "$1"); then
		echo "${0##*/}: apt-get cannot download $1: run 'apt-get update' as root and try again with the network up" >&2
		return 1
	fi
	dpkg -x "$2"/"$1"_*.deb "$2/root"
}

# replace_folder MADE TARGET: a half-made folder never stands at TARGET.
replace_folder() {
	chmod 755 "$1"
	rm -rf "$2"
	mv -T "$1" "$2"
}
