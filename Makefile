# For daily work; ./setup.sh does the same and needs no make.

.PHONY: all build test demo bench install deps clean

all: build

build test demo bench install deps:
	@./setup.sh $@

clean:
	rm -rf build
